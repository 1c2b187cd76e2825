-- Text search of memory rows. Lower-case words; of Chinese, Japanese and Korean, which put no blanks between words,
-- every two neighbouring characters. `search.tokens` reads a query by the same expression.
-- Parts written before this migration have no index yet and are scanned until they are merged.

ALTER TABLE loom.memory {on_cluster}
    ADD COLUMN IF NOT EXISTS search_text String
    ALIAS lowerUTF8(normalizeUTF8NFKC(if(JSONType(value) = 'String', JSONExtractString(value),
        replaceRegexpAll(value, '\\\\(u[0-9a-f][0-9a-f][0-9a-f][0-9a-f]|.)', ' '))))
    COMMENT 'the value''s text: a string as it is, anything else as its JSON without escapes';

ALTER TABLE loom.memory {on_cluster}
    ADD COLUMN IF NOT EXISTS search_tokens Array(String)
    MATERIALIZED if(sensitivity = 'high', [], arrayDistinct(arrayConcat(
        tokens(replaceRegexpAll(search_text, '[々〇ぁ-ヿㄱ-ㆎ㐀-䶿一-鿿가-힣豈-﫿𠀀-𯿿]+', ' '), 'splitByNonAlpha'),
        arrayFlatten(arrayMap(run -> if(lengthUTF8(run) = 1, [run], ngrams(run, 2)),
            extractAll(search_text, '[々〇ぁ-ヿㄱ-ㆎ㐀-䶿一-鿿가-힣豈-﫿𠀀-𯿿]+'))))))
    CODEC(ZSTD(1))
    COMMENT 'what memory.search finds the row by; of a high row nothing';

ALTER TABLE loom.memory {on_cluster}
    ADD INDEX IF NOT EXISTS by_token search_tokens TYPE text(tokenizer = 'array');
