package vocabulary

import "strings"

// languages are those that feeds are written in, as ISO 639 has them. Those that are
// English words, or words of field names, are not among the short ones.
const languages = " en fr de es it pt ru zh ar ja ko nl pl tr sv da fi cs el he hi th vi uk ro hu bg fa ur bn ms ca nb nn sk sl hr sr lt lv et ka hy az kk sw "

// long are codes of three letters and names, with the short code.
const long = " eng:en fra:fr fre:fr deu:de ger:de spa:es esp:es ita:it por:pt rus:ru zho:zh chi:zh ara:ar jpn:ja kor:ko nld:nl pol:pl tur:tr " +
	"english:en french:fr german:de spanish:es italian:it portuguese:pt russian:ru chinese:zh arabic:ar japanese:ja korean:ko " +
	"francais:fr anglais:en deutsch:de espanol:es englisch:en ingles:en "

// Language returns the two letters of the language that a tag such as en, en-GB, zh_Hant or
// eng stands for, or a name such as English; and nothing where it is none.
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

// IsLanguage tells whether a text is a tag or a name of a language, and nothing besides.
func IsLanguage(tag string) bool {
	return len(tag) <= len("zh-Hant-TW") && !strings.ContainsAny(tag, " :") && Language(tag) != ""
}
