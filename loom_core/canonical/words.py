"""Closed word classes: the words that are no entity's name, and those that mark a phrase's head.

These are grammar, not vocabulary: English adds a noun a day but no preposition in a lifetime, so they
are written down here, while nouns and verbs come from the lexicon.
"""


def listed(words: str) -> frozenset[str]:
    """The set of the blank-separated `words`."""
    return frozenset(words.split())


ARTICLES = listed("a an the")

# "Articles and possessives stripped": `my laptop` is the laptop.
DETERMINERS = ARTICLES | listed("my our your his her its their")

FIRST_PERSON = listed("i me my mine myself")

PRONOUNS = listed(
    """
    we us our ours ourselves ourself you your yours yourself yourselves he him his himself
    she her hers herself it its itself they them their theirs themselves themself
    this that these those who whom whose which what whoever whomever whatever whichever whosoever
    someone somebody something anyone anybody anything everyone everybody everything
    nobody nothing none one ones oneself each either neither both all any some such many much few
    several most another other others thou thee thy thine y'all there here
    """
) | {"no one", "each other", "one another"}

INTERJECTIONS = listed(
    """
    ah aha ahem alas argh aw aww bah bye duh eek eh er erm eww gee goodbye gosh ha haha hahaha hah heh hehe
    hello hey hi hiya hmm hmmm hm huh hurray hooray yay jeez lol lmao mhm mm mmm nah nope no oh ok okay omg
    oof ooh oops ouch ow pfft phew please pssst psst rofl shh sheesh sure thanks tsk ugh uh uhh um umm welp whee
    whoa whoops wow yah yawn yeah yep yes yikes yippee yo yuck yum yup
    """
) | {"thank you", "uh huh", "uh-huh", "oh no", "all right", "alright"}

LIGHT_VERBS = listed(
    """
    be am is are was were been being do does did done doing have has had having make makes made making
    get gets got gotten getting give gives gave given giving take takes took taken taking
    go goes went gone going come comes came coming put puts putting let lets letting
    keep keeps kept keeping use uses used using
    """
)

DROPPED = ARTICLES | PRONOUNS | INTERJECTIONS | LIGHT_VERBS
NOBODY = DROPPED | FIRST_PERSON

PREPOSITIONS = listed(
    """
    of in on at for from with without within by to per via into onto upon under over between among against
    about across through during after before behind beyond beside near toward towards around
    """
)

# Inside a hyphenated noun the head stands before one of these: runners-up, mothers-in-law.
HYPHEN_PARTICLES = PREPOSITIONS | {"up", "out", "off", "down", "away", "back", "de", "la", "du"}

# Nouns made with such words take their plural at the end: sign-ups, add-ons, one-on-ones.
PARTICLE_PLURALS = {
    word + "s": word for word in listed("up in on out off down over by back to through around away one")
}
