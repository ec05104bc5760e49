"""Proposals: features that stay because of what their names say, or as dates, each with its reason."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from surefoot.explain.constraints.feature import Action

Words = tuple[str, ...]


class Topic(NamedTuple):
    """Something that a person cannot change, and the words that say it.

    Parameters
    ----------
    said : str
        What such a name says: the reason why the feature stays.
    protected : bool
        Whether no message may propose to change it. What has merely happened already is not protected: a
        message that names it shows what stands in the way.
    words : str
        Words and phrases, separated by commas: English, German, French, Spanish, and usual abbreviations.
    alone : str
        Those that say it only as the whole name: `white` does, `white_goods` does not.
    """

    said: str
    protected: bool
    words: str
    alone: str = ""


SEX = Topic(
    "a person's sex or gender",
    True,
    """sex, gender, gend, gndr, male, female, woman, is man, geschlecht, weiblich, mannlich, anrede,
    salutation, sexe, feminin, masculin, femme, homme, civilite, sexo, genero, femenino, masculino,
    mujer, hombre, transgender, sexual orientation, sexuality, sexuelle orientierung, orientation
    sexuelle, orientacion sexual""",
    "genre, man, men, women, boy, girl, mann, frau",
)
# Of several topics in one name, the first gives the reason.
TOPICS = (
    Topic(
        "when or where someone was born",
        True,
        """birth, births, birthday, bday, birthdate, birthyear, birthplace, birthweight, birth wt, bwt,
        bwght, born, year born, dob, yob, ddn, date of birth, year of birth, place of birth, country of
        birth, geburt, geburtstag, geburtsdatum, geburtsjahr, geburtsort, geburtsland, geburtsgewicht,
        geburtsgew, geboren, gebdat, geb dat, geb datum, gebdatum, geb jahr, geb ort, geb tag, geb land,
        jahrgang, naissance, datenaiss, naiss, date naissance, date de naissance, nacimiento, fecnac,
        fec nac, fnac, f nac, fecha nac, ano nac, anio nac, lugar nac, pais nac, fecha nacimiento, fecha
        de nacimiento, nacido, nacida""",
        "geb",
    ),
    Topic(
        "how old someone or something is, which only time changes",
        True,
        """age, ages, aged, agegroup, agegrp, ageband, agerange, agecat, ageyears, age months, age
        days, age yrs, age sq, age squared, agesq, agedx, years old, yrs old, jahre alt,
        how old, senior citizen, senior citizens, elderly, alter, lebensalter, altersgruppe,
        altersklasse, lebensjahr, lebensjahre, edad, edades, grupo etario, tranche age""",
    ),
    SEX,
    Topic(
        "race, ethnicity or colour of skin",
        True,
        """race, racial, ethnicity, ethnicities, ethnic, ethn, ethnie, ethnien, ethnisch, ethnische,
        ethnique, etnia, etnico, etnica, rasse, raza, skin color, skin colour, skin tone, color of skin,
        colour of skin, complexion, fitzpatrick, hautfarbe, hauttyp, couleur de peau, couleur de la
        peau, couleur peau, color de piel, color de la piel, color piel, hispanic, latino, latina,
        latinx, hispan, hisp, is asian, is black, is white, non white, caucasian, african american,
        native american, indigenous, aboriginal, indigena, caste, tribe, tribal""",
        "black, white, asian",
    ),
    Topic(
        "where a person comes from, or a citizenship",
        True,
        """origin, origins, country of origin, national origin, nationality, nationalities, nation,
        citizenship, citizen, citz, native country, native language, native speaker, mother tongue,
        first language, foreign, foreigner, foreigners, immigrant, immigration, migrant, migration
        background, staatsangehorigkeit, staatsburgerschaft, nationalitat, herkunft, herkunftsland,
        muttersprache, migrationshintergrund, staatsang, auslander, auslanderin, nationalite,
        citoyennete, origine, origines, etranger, etrangere, langue maternelle, pays de naissance,
        nacionalidad, ciudadania, origen, procedencia, extranjero, extranjera, lengua materna,
        inmigrante, immigre, immigree""",
    ),
    Topic(
        "a person's religion",
        True,
        """religion, religions, religious, relig, faith, creed, religionszugehorigkeit, konfession,
        religios, glaubensrichtung, religieux, religieuse, confession religieuse, confesion, religioso,
        religiosa, catholic, protestant, muslim, jewish, katholisch, evangelisch, muslimisch, judisch,
        catholique, musulman, musulmane, catolico, catolica""",
        "confession",
    ),
    Topic(
        "what runs in the family, or who the parents are",
        True,
        """family history, fam hist, fam history, family hist, familial, parental history, heredity,
        hereditary, heritability, genetic, genetics, genotype, genome, gene, genes, allele, pedigree,
        pedi, mother, father, mothers, fathers, maternal, paternal, medu, fedu, meduc, feduc,
        mjob, fjob, motheduc, fatheduc, parent education, parents education, parental education, parental
        level, parent job, parents job, parental job,
        familienanamnese, familiengeschichte, familienvorgeschichte, erblich, erbkrankheit, vererbung,
        genetisch, mutter, vater, heredite, hereditaire, antecedents familiaux, genetique, mere, pere,
        herencia, hereditario, hereditaria, antecedentes familiares, historia familiar, genetico,
        genetica, madre, padre""",
    ),
    Topic(
        "children, or others whom somebody keeps",
        False,
        """children, nchildren, numchildren, kids, dependents, dependants, siblings, kinder, kinderzahl,
        kinderanzahl, unterhaltspflichtige, unterhaltsberechtigte, geschwister, enfants, personnes a
        charge, hijos, personas a cargo, dependientes""",
    ),
    Topic(
        "a disability",
        True,
        """disability, disabilities, disabled, disab, gdb, gd b, handicap, handicapped, impairment,
        behinderung, behindert, schwerbehinderung, schwerbehindert, behinderungsgrad, handicape, handicapee,
        invalidite, discapacidad, discapacitado, discapacitada, minusvalia, invalidez""",
    ),
    Topic(
        "a pregnancy, or how many there were",
        True,
        """pregnancy, pregnancies, pregnant, preg, npreg, gravida, gravidity, schwangerschaft,
        schwangerschaften, schwanger, grossesse, grossesses, enceinte, embarazo, embarazos, embarazada""",
    ),
    Topic(
        "a menopause",
        True,
        """menopause, menopausal, menostat, postmenopausal, premenopausal, wechseljahre, menopausia,
        menopausica, menopausique""",
    ),
    Topic(
        "where someone lives",
        False,
        """postcode, post code, postal code, zip, zip code, zipcode, plz, postleitzahl, code postal, codigo
        postal""",
    ),
    Topic(
        "what has happened already, or since when",
        False,
        """previous, previously, prev, prior, priors, past, former, formerly, earlier, since, ever,
        history, histories, tenure, seniority, years employed, years at employer, years with employer, years
        at job, years in job, years at company, years of service, years of employment, months employed,
        employment length, emp length, length of employment, years at address, years at residence, years at
        current address, time at address, time at residence, months at address, wohndauer, jahre
        beim arbeitgeber, jahre im betrieb, dienstjahre,
        beschaftigungsdauer, dauer der beschaftigung, annees de service, anos de servicio,
        last, first seen, first visit, first contact, first purchase, first order, first login, first loan,
        first use, first used, first diagnosis, first date, hire date, hired, join date, joined, date
        joined, signup date, sign up date, registration date, open date, opening date,
        opened, created, conviction, convictions, arrest, arrests, veteran,
        bankruptcy, bankruptcies, delinquencies, delinq, vorherig, vorherige, vorheriger, vorige,
        voriger, fruher, fruhere, bisherig, bisherige, ehemalig, ehemalige, letzte, letzter, letztes,
        seit, kunde seit, vorgeschichte, historie, kredithistorie, anamnese, vorstrafe, vorstrafen,
        vorerkrankung, vorerkrankungen, eintrittsdatum, anmeldedatum, betriebszugehorigkeit, precedente,
        precedents, precedentes, anterieur, anterieure, anterieurs, anterieures, dernier, derniere,
        derniers, dernieres, depuis, historique, antecedent, antecedents, anciennete, previo, previa,
        previos, previas, anteriores, ano anterior, mes anterior, empleo anterior, ultimo, ultima,
        ultimos, ultimas, desde, historial, antecedente, antecedentes, antiguedad""",
    ),
)
# Phrases that hold such a word and mean something else.
EXCEPTIONS = """race time, race times, race day, race date, race track, race car, race distance, race result,
race position, race number, race pace, race condition, arms race, horse race, road race, boat race, drag
race, alter ego, alter table, age verified, age verification, age gate, ice age, stone age, new age,
birth control, sex partners, sex offender, sex education, genero musical, genero literario, origin
airport, origin port, origin station, origin city, origin zip, origin lat, origin lon, origin latitude,
origin longitude, origin url, origin domain, origin server, origin warehouse, origin depot, origin
terminal, traffic origin, order origin, call origin, data origin, lead origin, flight origin, shipment
origin, foreign exchange, foreign currency, foreign key, foreign transaction, foreign transactions,
foreign trade, foreign investment, foreign assets, foreign debt, foreign income, foreign account,
foreign travel, foreign trips, foreign language, foreign languages, foreign body, moneda extranjera,
inversion extranjera, lengua extranjera, devise etrangere, monnaie etrangere, langue etrangere, good
faith, bad faith, mother board, account disabled, user disabled, card disabled, notifications disabled,
notification disabled, feature disabled, cookies disabled, javascript disabled, sync disabled, autopay
disabled, alerts disabled, disability insurance, disability benefit, disability benefits, disability
income, disability premium, disability cover, disability coverage, gender neutral, gender pay,
impairment loss, asset impairment, goodwill impairment, golf handicap, handicap index, asian handicap,
past due, prior probability, prior authorization, last name, last mile, housing tenure, home tenure"""
# Words among the values of a category that say sex.
MEN = "man men male males mann manner herr homme hommes masculin hombre hombres masculino varon"
WOMEN = "woman women female females frau frauen femme femmes feminin mujer mujeres femenino"
OTHERWISE = "other unknown diverse divers nonbinary non missing autre otro andere unbekannt na"
# Where a name breaks: aB, ABc, and between letters and digits.
BREAKS = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
SHORTEST_JOINED = 6  # letters of a phrase without spaces; ten times as many, and dateofbirth is not found


def proposals(schema: Any) -> dict[Any, tuple[Action, str]]:
    """The features of a schema that stay, each with its action and its reason.

    Parameters
    ----------
    schema : Schema
        Of a fitted classifier. The values of a category count as well: some say sex where its name does not.
    """
    found = {}
    for name, values, is_date in zip(schema.names, schema.values, schema.dates, strict=True):
        topic, what = topic_of(name), "its name says"
        if topic is None and values is not None and _say_sex(values):
            topic, what = SEX, "its values say"
        if topic is not None:
            found[name] = Action("stay", protected=topic.protected), f"{what} {topic.said}"
        elif is_date:
            found[name] = Action("stay"), "it is a date"
    return found


def topic_of(name: Any) -> Topic | None:
    """What the name of a feature says that a person cannot change; None for anything else.

    Examples
    --------
    >>> topic_of("dateOfBirth").said
    'when or where someone was born'
    >>> topic_of("mileage") is None
    True
    """
    words = words_of(str(name))
    said = {*_said(words), _alone().get(words)}
    return next((topic for topic in TOPICS if topic in said), None)


def words_of(name: str) -> Words:
    """The words of a name, in small letters without accents.

    Examples
    --------
    >>> words_of("personal_statusSex"), words_of("Staatsangehörigkeit"), words_of("Père de l'élève")
    (('personal', 'status', 'sex'), ('staatsangehorigkeit',), ('pere', 'de', 'l', 'eleve'))
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    parts = re.split(r"[\W_]+", BREAKS.sub(" ", plain))
    return tuple(_folded(part) for part in parts if part)


def _folded(word: str) -> str:
    """A word such that ö, oe and o are the same."""
    small = word.casefold()
    return small.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def _said(words: Words) -> Iterator[Topic]:
    """Topics from left to right; where several phrases begin at a word, the longest counts."""
    phrases, longest = _phrases()
    k = 0
    while k < len(words):
        sizes = range(min(longest, len(words) - k), 0, -1)
        size = next((n for n in sizes if words[k : k + n] in phrases), 0)
        topic = phrases[words[k : k + size]] if size else None
        if topic is not None:
            yield topic
        k += max(size, 1)


@cache
def _phrases() -> tuple[dict[Words, Topic | None], int]:
    """Every phrase with its topic (None: an exception), also as one word; and the length of the longest."""
    found: dict[Words, Topic | None] = {}
    listed = [(topic, topic.words) for topic in reversed(TOPICS)]
    for topic, text in [*listed, (None, EXCEPTIONS)]:
        for phrase in text.split(","):
            words = words_of(phrase)
            found[words] = topic
            if len(words) > 1 and len("".join(words)) >= SHORTEST_JOINED:
                found[("".join(words),)] = topic
    return found, max(map(len, found))


@cache
def _alone() -> dict[Words, Topic]:
    """The words that say something as a whole name, each with its topic."""
    return {words_of(text): topic for topic in TOPICS for text in topic.alone.split(",") if text}


def _say_sex(values: Sequence[Any]) -> bool:
    """Whether every value of a category says man or woman, and both occur."""
    men, women, others = (set(words_of(text)) for text in (MEN, WOMEN, OTHERWISE))
    words = [set(words_of(value)) for value in values if isinstance(value, str)]
    every = len(words) == len(values) and all(one & (men | women | others) for one in words)
    return every and any(one & men for one in words) and any(one & women for one in words)
