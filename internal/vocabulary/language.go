package vocabulary

import (
	"strings"

	"golang.org/x/text/language"
)

// languages are the ISO 639 codes of the languages that feeds are written in. Most codes
// that are also English words or words of field names, such as no and id, are left out.
const languages = " en fr de es it pt ru zh ar ja ko nl pl tr sv da fi cs el he hi th vi uk ro hu bg fa ur bn ms ca nb nn sk sl hr sr lt lv et ka hy az kk sw "

// long has codes of three letters and names of languages, each with its two-letter code.
const long = " eng:en fra:fr fre:fr deu:de ger:de spa:es esp:es ita:it por:pt rus:ru zho:zh chi:zh ara:ar jpn:ja kor:ko nld:nl pol:pl tur:tr " +
	"english:en french:fr german:de spanish:es italian:it portuguese:pt russian:ru chinese:zh arabic:ar japanese:ja korean:ko " +
	"francais:fr anglais:en deutsch:de espanol:es englisch:en ingles:en "

// Language returns the two letters of the language that a tag such as en, en-GB, zh_Hant or
// eng, or a name such as English, stands for. It returns "" for anything else.
func Language(tag string) string {
	tag, _, _ = strings.Cut(strings.ReplaceAll(Fold(tag), "_", "-"), "-")
	if len(tag) == 2 && strings.Contains(languages, " "+tag+" ") {
		return tag
	}
	if _, after, found := strings.Cut(long, " "+tag+":"); found && len(tag) > 2 {
		return after[:2]
	}
	return ""
}

// MapLanguage returns the language that a key of a map by language stands for. Beside the tags and
// names that Language knows, it takes every other code of ISO 639, so a caller must have another
// reason to take the map for one. It returns "" for anything else.
func MapLanguage(key string) string {
	if code := Language(key); code != "" {
		return code
	}
	tag, _, _ := strings.Cut(strings.ReplaceAll(key, "_", "-"), "-")
	if len(tag) < 2 || len(tag) > 3 {
		return ""
	}
	base, err := language.ParseBase(tag)
	if err != nil {
		return ""
	}
	return base.String()
}

// IsLanguage reports whether a text is nothing but a tag or a name of a language.
func IsLanguage(tag string) bool {
	return len(tag) <= len("zh-Hant-TW") && !strings.ContainsAny(tag, " :") && Language(tag) != ""
}
