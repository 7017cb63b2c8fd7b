package mappings

import (
	"slices"
	"strings"
	"testing"

	"riskdex/report"
)

// TestThreats: a report's own ratings, if it has any, decide what it warns of; otherwise
// its words do. Better a threat too few than one that is merely mentioned.
func TestThreats(t *testing.T) {
	s := builtinSet(t)
	long := strings.Repeat("People of this city like to walk by the river, and the markets are open until late. ", 20)
	for name, c := range map[string]struct{ body, want string }{
		"nothing":                {`{"title":"Oslo"}`, ``},
		"title":                  {`{"title":"Rioting and looting in Springfield"}`, `["unrest"]`},
		"held by a state":        {`{"title":"Tourists detained at the border of Ruritania"}`, `["law"]`},
		"held for a ransom":      {`{"title":"Tourists abducted in Ruritania; hostages are held for a ransom"}`, `["kidnapping"]`},
		"several":                {`{"title":"Earthquakes, power cuts and kidnapped tourists"}`, `["infrastructure","kidnapping","natural_hazards"]`},
		"phrase":                 {`{"title":"Flash flood after industrial action"}`, `["natural_hazards","strikes"]`},
		"half a phrase":          {`{"title":"Industrial park, power lunch"}`, ``},
		"many meanings":          {`{"title":"Lightning strike, demonstration of cooking, flight of stairs"}`, ``},
		"within a word":          {`{"title":"Warsaw, Warwick, Gayton"}`, ``},
		"other languages":        {`{"title":"Émeutes à Springfield: seismes, FRONTIÈRE FERMÉE"}`, `["entry","natural_hazards","unrest"]`},
		"other scripts":          {`{"title":"Последствия землетрясения, забастовки; 東京で洪水; الإضراب"}`, `["natural_hazards","strikes"]`},
		"marks without a letter": {`{"title":"⚠️ Riots","summary":"1️⃣ ️ Earthquake"}`, `["natural_hazards","unrest"]`},
		"a part of a word":       {`{"title":"Девиза, невзрывной"}`, ``},
		"summary":                {`{"title":"Oslo","summary":"There is a threat of terrorism."}`, `["terrorism"]`},
		"mentioned in passing":   {`{"title":"Oslo","body":"` + long + `The war museum tells of the war. Robbery is rare."}`, ``},
		"mentioned often":        {`{"title":"Oslo","body":"` + long + `Robbery is common. Muggers wait at night. Gangs run the port. Pickpockets too."}`, `["crime"]`},
		"rated": {`{"title":"Crime in Oslo","threatRatings":[{"category":"Crime","rating":1},{"category":"Terrorism","rating":3},{"category":"Civil Unrest","rating":"High"}]}`,
			`["terrorism","unrest"]`},
		"rated low":                       {`{"title":"Crime in Oslo","threat_ratings":[{"category":"Crime","rating":2}]}`, ``},
		"rated in words":                  {`{"title":"Oslo","risks":[{"name":"Natural hazards","level":{"name":"Extreme"}},{"name":"Health","level":{"id":4}}]}`, `["health","natural_hazards"]`},
		"rated by names":                  {`{"title":"Oslo","risk_ratings":{"crime":4,"civil_unrest":"low","LGBT":{"level":5}}}`, `["crime","lgbt"]`},
		"a rating unknown":                {`{"title":"Oslo","ratings":{"crime":"amber"}}`, ``},
		"rated in words without a level":  {`{"title":"Oslo","risk_ratings":{"crime":"serious","health":"Substantial","terrorism":"limited"}}`, `["crime","health"]`},
		"rated by names, in a table":      {`{"title":"Oslo","threatMatrix":{"crime":"high","civil_unrest":"Low","natural_hazards":"critical","health":"limited"}}`, `["crime","natural_hazards"]`},
		"rated by names, not understood":  {`{"title":"War in Oslo","threatMatrix":{"crime":"amber","health":"Hospitals are good."}}`, `["conflict"]`},
		"rated, and others in the title":  {`{"title":"Rail strike and robbery in Oslo","threatRatings":[{"category":"Crime","rating":1},{"category":"Health","rating":4}]}`, `["health","strikes"]`},
		"rated, and others in the text":   {`{"title":"Oslo","summary":"Robbery, strikes, floods.","threatRatings":[{"category":"Crime","rating":1},{"category":"Health","rating":4}]}`, `["health"]`},
		"listed, and others in the title": {`{"title":"Rail strike in Oslo","categories":["Health"]}`, `["health"]`},
		"rated by topic":                  {`{"title":"Oslo","securityByTopic":[{"topicName":"Crime","scoreOutOf10":8},{"topicName":"Health","scoreOutOf10":4},{"topicName":"Unrest","scoreOutOf10":6}]}`, `["crime","unrest"]`},
		"rated by topic, of any scale":    {`{"title":"War in Oslo","securityByTopic":[{"topicName":"Crime","score":5}]}`, `["conflict"]`},
		"listed":                          {`{"title":"Oslo","categories":["Kidnapping","Cooking","natural-disasters"]}`, `["kidnapping","natural_hazards"]`},
		"one":                             {`{"title":"Crowds gather","event_type":"Protests"}`, `["unrest"]`},
		"labels unknown":                  {`{"title":"Riots","categories":["Cooking"]}`, `["unrest"]`},
		"in another envelope":             {`{"data":{"attributes":{"title":"Oslo","category":"Weather"}}}`, `["weather"]`},
	} {
		if got, unfit := field(t, s, "threats", c.body); got != c.want || unfit {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestThreatsOfBeginning: an advisory without a summary begins with what it warns of; a report on
// a city may begin with anything.
func TestThreatsOfBeginning(t *testing.T) {
	s := builtinSet(t)
	body := `{"title":"Oslo","sections":[{"heading":"What to do","text":"There is a threat of terrorism in the city."},{"text":"Robbery is rare in the centre of the city."}]}`
	for kind, want := range map[report.Kind]string{report.Cities: "", report.Advisories: `["terrorism"]`, report.SpecialReports: `["terrorism"]`} {
		if got, _ := fieldOf(t, s, kind, "threats", body); got != want {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
	}
}

// TestStartsOfWords: what is skipped by its first letters is no form of any word that is
// looked for.
func TestStartsOfWords(t *testing.T) {
	some := newThreatWords(builtinSet(t).threats)
	some.add("spy ring", 0)
	some.add("rob", 1)
	all := *some
	for i := range all.starts {
		all.starts[i] = ^uint64(0)
	}
	found := 0
	for first, phrases := range some.phrases {
		for _, phrase := range phrases {
			rest := " " + strings.Join(phrase.rest, " ")
			stem, y := strings.CutSuffix(first, "y")
			forms := []string{first, first + "s", first + "ing", first + "ed", first + first[len(first)-1:] + "ing", strings.ToUpper(first), "x" + first, first[1:]}
			if y {
				forms = append(forms, stem+"ies")
			}
			for _, form := range forms {
				counted, every := make([]int, len(some.names)), make([]int, len(some.names))
				some.count(counted, []byte(form+rest), nil)
				all.count(every, []byte(form+rest), nil)
				if !slices.Equal(counted, every) {
					t.Errorf("%q is skipped", form+rest)
				}
				found += every[phrase.threat]
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// TestThreatsFile: every threat has words, and every label belongs to one threat and is there once.
func TestThreatsFile(t *testing.T) {
	s := builtinSet(t)
	seen := map[string]string{}
	for name, threat := range s.threats.Threats {
		if len(threat.Words) == 0 {
			t.Errorf("%s has no words", name)
		}
		for _, labels := range threat.Labels {
			for label := range strings.SplitSeq(labels, ",") {
				key := string(appendLetters(nil, []byte(label)))
				if other, again := seen[key]; again || key == "" {
					t.Errorf("%q is a label of %s and of %q", label, name, other)
				}
				seen[key] = name
			}
		}
	}
}

// TestNamed: a label is understood in any script and spelling, or else by those of its words that are
// known, if they agree.
func TestNamed(t *testing.T) {
	words := newThreatWords(builtinSet(t).threats)
	for threat, labels := range map[string]string{
		"crime":           "Kriminalität|KRIMINALITAET|Kriminalitet|КРИМИНАЛЬНАЯ ОБСТАНОВКА|治安|الجريمة|Kleinkriminalität|Alltagskriminalität|Criminalité générale|General crime situation|Theft & robbery|Suç ve Hırsızlık|KRIMI|치안",
		"unrest":          "Innere Unruhen|INNERE_UNRUHEN|troubles à l’ordre public|Demonstrations & unrest|デモ|Sosial uro|Levottomuudet ja mielenosoitukset|Massendemonstrationen",
		"natural_hazards": "Aléa naturel|ALEA_NATUREL|Naturkatastrofer|自然災害|自然灾害|Doğal afetler|Naturgefahren in der Region",
		"transport":       "Trafikk og transport|Routier et transports|Trafic routier|Transport et circulation|交通|Straßenverkehr|STRASSENVERKEHR|Ulaşım|Liikenne",
		"conflict":        "Væpnet konflikt|VAEPNET_KONFLIKT|Armed conflict and war|война|Savaş",
		"politics":        "Instabilité politique|Innenpolitische Lage|Political developments|Sytuacja polityczna",
		"health":          "Situation sanitaire|Health situation|Gesundheit|Medizin|здоровье|Smittsomme sykdommer|感染症|Terveys",
		"lgbt":            "personnes LGBT|LGBTQ+ travellers|HBTQ-personer|2SLGBTQI+|性的少数者",
		"women":           "Women travellers|Frauen|女性の安全", "entry": "Einreise und Zoll|Innreise|入国|Border crossings",
		"strikes":   "Rail strike|Streiks und Arbeitskampf|Grève générale",
		"terrorism": "Terrorfare|TERROR|テロ|Терроризм", "weather": "Météo|Vær|天气|Unwetter", "law": "Lokale Gesetze|Lover og regler",
		"infrastructure": "Énergie et télécoms|Versorgungslage", "kidnapping": "Entführungen|Secuestros|誘拐",
		"": "Women's health|Kidnapping and terrorism|Kidnapping und Kriminalität|Tourist information|Travel health insurance|Reiseversicherung Gesundheit|Crime prevention tips|" +
			"Low crime|Geringe Kriminalität|Lav kriminalitet|Keine Unruhen|犯罪なし|Holidays|Fremdenverkehr|The mayor of the town remembers crime|123|!|",
	} {
		for label := range strings.SplitSeq(labels, "|") {
			got := ""
			if i, ok := words.named([]byte(label)); ok {
				got = words.names[i]
			}
			if got != threat {
				t.Errorf("%s: got %q, want %q", label, got, threat)
			}
		}
	}
}

// TestWordsThatLoseAPart: a search leaves the in out of break-in, so a rule with it would make a
// break a burglary. Reports are read for it all the same.
func TestWordsThatLoseAPart(t *testing.T) {
	s := builtinSet(t)
	for _, rule := range append(s.threats.rules(), s.threats.names()...) {
		for phrase := range strings.SplitSeq(strings.ReplaceAll(rule, "=>", ","), ",") {
			if strings.TrimSpace(phrase) == "" {
				t.Errorf("%q has an empty phrase", rule)
			}
			for word := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(phrase), " ", "-"), "-") {
				if isStopWord(strings.ToLower(word)) {
					t.Errorf("%q has the stop word %q", rule, word)
				}
			}
		}
	}
	if got, _ := field(t, s, "threats", `{"title":"Break-in at the museum"}`); got != `["crime"]` {
		t.Errorf("a break-in is %s", got)
	}
	for rule, want := range map[string]string{"sit-in": "", "a => sit-in": "", "sit-in, b": " b", "stand by, ~c => d": "~c => d"} {
		if got := searchable(rule); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("of %q, %q is searchable, want %q", rule, got, want)
		}
	}
}

// TestListedThreats: an entry of a list of threats is the threat that it is called after, or the only
// one that it mentions. A list of topics may be about anything.
func TestListedThreats(t *testing.T) {
	s := builtinSet(t)
	for body, want := range map[string]string{
		`{"title":"Lyon","menaces":["Pickpocketing","Strikes"]}`:                                                       `["crime","strikes"]`,
		`{"title":"Lyon","threats":["Gang violence","Wildfires","Holidays"]}`:                                          `["crime","natural_hazards"]`,
		`{"title":"Lyon","KeyThreats":"Pickpocketing; phonesnatch; Terrorism; Strikes"}`:                               `["crime","strikes","terrorism"]`,
		`{"title":"Lyon","threats":[{"name":"Pickpocketing","level":4},{"name":"Dengue fever","level":1}]}`:            `["crime"]`,
		`{"title":"Lyon","threatRatings":[{"type":"Gang violence","rating":"High"},{"type":"Floods","rating":"Low"}]}`: `["crime"]`,
		`{"title":"Lyon","threats":"Terrorism: Low; Crime: Low"}`:                                                      ``, `{"title":"Lyon","threats":"No terrorism, no kidnapping, little crime"}`: ``,
		`{"title":"Lyon","hazards":["Extreme heat","High crime"]}`: `["crime","weather"]`, `{"title":"Lyon","menaces":["Faible criminalité","Crime faible"]}`: ``,
		`{"title":"Lyon","threats":["Low crime","No terrorism","Crime (low)"]}`: ``, `{"title":"Lyon","threats":["Terrorism unlikely"]}`: ``,
		`{"title":"Lyon","threats":"There is no threat of terrorism."}`: ``, `{"title":"Lyon","threats":[{"name":"Crime prevention tips"}]}`: ``,
		`{"title":"Lyon","threats":"<p>Visitors are safe, but pickpockets exist.</p>","summary":"Strikes are likely."}`: ``,
		`{"title":"Lyon","threats":[{"type":"Storm damage","name":"Crime","rating":4}]}`:                                `["crime"]`,
		`{"title":"Lyon","threats":["Kidnapping and terrorism"]}`:                                                       ``,
		`{"title":"Lyon","riskLabel":"Low","threats":[{"name":"Crime","level":5},{"name":"Terrorism","level":1}]}`:      `["crime"]`, // a level of its own
		`{"titulo":"Lyon","nivel_riesgo":"bajo","amenazas":[{"nivel":3,"tipo":"Hurtos"}]}`:                              `["crime"]`,
		`{"title":"Lyon","topics":["Stamps with pictures of floods","Pickpocketing"]}`:                                  ``,
		`{"title":"Lyon","threats":"Nothing much happens here, said the mayor of the town. Pickpocketing was known in the last century, and he remembers one robbery; nobody was hurt then, the money was found behind the church, and the man who took it became a baker, whose bread is sold in the market to this very day, and he is liked by all."}`: ``,
	} {
		if got, _ := field(t, s, "threats", body); got != want {
			t.Errorf("threats of %.200s: %s, want %s", body, got, want)
		}
	}
}
