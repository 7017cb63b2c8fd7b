package mappings

import (
	"strings"
	"testing"

	"riskdex/report"
)

// TestScalesThatNobodyTaught: a level is the right one, or absent where a record does not say
// which it is. Each record is another vendor's.
func TestScalesThatNobodyTaught(t *testing.T) {
	s := builtinSet(t)
	for _, c := range []struct{ about, record, want string }{
		{"five levels, the worst last", `{"riskLevel": 4, "riskLabel": "High"}`, "4"},
		{"five levels, low the second", `{"riskLevel": 2, "riskLabel": "Low"}`, "2"},
		{"five levels, with moderate in the middle", `{"risk": {"level": 3, "label": "Moderate"}}`, "3"},
		{"the worst first", `{"riskLevel": 1, "riskLabel": "Extreme"}`, "5"},
		{"the worst first, in an object", `{"riskLevel": {"id": 5, "name": "Low"}}`, "1"},
		{"the worst first, in label and value", `{"fields": [{"label": "Risk level", "value": 1}, {"label": "Risk label", "value": "Extreme"}]}`, "5"},
		{"the worst first, of which severe is at least the worst but one", `{"riskLevel": 1, "riskLabel": "Severe"}`, "4"},
		{"severity, the worst first", `{"severity": 1, "severityLabel": "Critical"}`, "5"},
		{"four levels", `{"risk": {"level": 3, "label": "High"}}`, "4"},
		{"four levels, stated", `{"riskLevel": 3, "maxRiskLevel": 4}`, "4"},
		{"four levels, stated as a range", `{"riskLevel": 3, "riskScale": "1-4"}`, "4"},
		{"four levels, stated from the worst", `{"riskLevel": 4, "riskScale": "4-1"}`, "1"},
		{"four levels, stated in Portuguese", `{"nivelDeRisco": 3, "nivelMaximo": 4}`, "4"},
		{"four levels, stated in German", `{"bewertung": {"stufe": 3, "maximum": 4}}`, "4"},
		{"levels from 0, stated", `{"risk": {"level": 2, "min": 0, "max": 4}}`, "3"},
		{"a scale of words, stated", `{"risk": {"level": 2, "scale": "four steps"}}`, ""},
		{"a fraction", `{"risk": "4/5"}`, "4"},
		{"of ten", `{"risk": "8 out of 10"}`, "4"},
		{"of ten, by its name", `{"riskScoreOutOf10": 8}`, "4"},
		{"of ten, by a name of no risk", `{"starsOutOf10": 8}`, ""},
		{"a percentage", `{"risk": "4%"}`, ""},
		{"a percentage by its name", `{"riskPercent": 4}`, ""},
		{"letters", `{"riskGrade": "B"}`, ""},
		{"letters and digits", `{"risk": "C3"}`, ""},
		{"Roman numbers", `{"risk": "IV"}`, ""},
		{"colours", `{"riskLevel": "amber"}`, ""},
		{"words", `{"riskLevel": "substantial"}`, ""},
		{"low, of a scale that the record does not tell", `{"riskLevel": "Low"}`, "1"},
		{"low, above very low", `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very low"}]}`, "2"},
		{"low, above very low, by the names of threats", `{"riskLevel": "Low", "threatRatings": {"crime": "MINIMAL", "health": "HIGH"}}`, "2"},
		{"low, above very low, of a stated scale", `{"riskBand": "LOW", "riskScale": ["VERY_LOW", "LOW", "MEDIUM", "HIGH", "VERY_HIGH"]}`, "2"},
		{"low, below very high", `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very high"}]}`, "2"},
		{"low, of the built-in scale", `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Medium"}, {"name": "Health", "rating": "Moderate"}]}`, "1"},
		{"low, and something else that is", `{"riskLevel": "Low", "humidity": "Very low", "prices": {"level of": "minimal"}}`, "1"},
		{"low, and a scale of more levels", `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Minimal"}, {"name": "Health", "rating": "Very low"}]}`, "1"},
		{"moderate, above low and minimal", `{"riskLevel": "Moderate", "threats": [{"name": "Crime", "rating": "Minimal"}, {"name": "Health", "rating": "Low"}]}`, "3"},
		{"very high", `{"riskLevel": "VERY_HIGH"}`, "5"},
		{"very high, below extreme", `{"riskLevel": "Very high", "threats": [{"name": "Crime", "rating": "Extreme"}]}`, "4"},
		{"colours of the United States", `{"riskLevel": "GUARDED"}`, "2"},
		{"the middle of those", `{"riskLevel": "Elevated"}`, "3"},
		{"the worst of those", `{"riskLevel": "Severe", "threats": [{"name": "Crime", "rating": "Guarded"}]}`, "5"},
		{"elevated, the second of four", `{"riskLevel": 2, "riskLabel": "Elevated"}`, "2"},
		{"elevated, the third of five", `{"riskLevel": 3, "riskLabel": "Elevated"}`, "3"},
		{"severe, at least the worst but one", `{"riskLevel": "Severe"}`, "4"},
		{"severe, below critical", `{"threatLevel": "Severe", "threats": [{"name": "Crime", "rating": "Critical"}]}`, "4"},
		{"French", `{"niveauDeRisque": "Élevé"}`, "4"},
		{"very high, in French", `{"niveauRisque": "très élevé"}`, "5"},
		{"very high, below extreme, in French", `{"niveauRisque": "Très élevé", "menaces": [{"nom": "Crime", "niveau": "Extrême"}]}`, "4"},
		{"low, above very low, in Spanish", `{"nivelDeRiesgo": "bajo", "amenazas": [{"nombre": "Delincuencia", "nivel": "Muy bajo"}]}`, "2"},
		{"Dutch", `{"risiconiveau": "Gemiddeld"}`, "3"},
		{"the number of a label in German", `{"risiko": {"stufe": 1, "bezeichnung": "Sehr hoch"}}`, "5"},
		{"the id of an assessment", `{"assessmentId": 3}`, ""},
		{"an assessment in prose", `{"securityAssessment": "High walls are no protection."}`, ""},
		{"a threat", `{"threat": "High winds"}`, ""},
		{"the id of a threat", `{"threat": {"id": 4, "name": "Flood"}}`, ""},
		{"how many threats", `{"threats": 3}`, ""},
		{"one threat of several", `{"threat": "Terrorism", "threats": [{"name": "Crime", "level": "High"}]}`, ""},
		{"a range", `{"risk": "2-3"}`, ""},
		{"two words", `{"risk": "low to high"}`, ""},
		{"the number of the worst", `{"risk": "1 - extreme"}`, ""},
		{"a score", `{"riskScore": 4}`, ""},
		{"an index", `{"riskIndex": 4}`, ""},
		{"a rank", `{"riskRank": 1}`, ""},
		{"how safe it is", `{"safetyLevel": 5}`, ""},
		{"how safe it is, in words", `{"safety": {"rating": "high"}}`, ""},
		{"how safe it is, in Spanish", `{"nivelSeguridad": "alto"}`, ""},
		{"stars", `{"starRating": 4}`, ""},
		{"what it was before", `{"previousRiskLevel": 4}`, ""},
	} {
		for _, kind := range report.Kinds() {
			if got, _ := fieldOf(t, s, kind, "risk_level", c.record); got != c.want {
				t.Errorf("%s, %s: %s has the level %q, want %q", c.about, kind, c.record, got, c.want)
			}
		}
	}
}

// TestTaughtLabelsStay: what a mapping file says of labels counts more than the other labels of a
// record.
func TestTaughtLabelsStay(t *testing.T) {
	builtin := string(must(ReadFile("cities.json")))
	for _, c := range []struct{ from, to, record, want string }{
		{``, ``, `{"riskLevel": "Severe", "threats": [{"name": "Crime", "rating": "Critical"}]}`, "4"},
		{`"severe": 4`, `"severe": 5`, `{"riskLevel": "Severe", "threats": [{"name": "Crime", "rating": "Critical"}]}`, "5"},
		{`"severe": 4`, `"severe": 5`, `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very low"}]}`, "2"},
		{`"medium": 3`, `"medium": 2`, `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very low"}]}`, "1"},
		{`"risk_levels"`, `"risk_scale": ["low", "high"], "risk_levels"`, `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very low"}]}`, "1"},
		{`"risk_levels"`, `"read_names": false, "risk_levels"`, `{"riskLevel": "Low", "threats": [{"name": "Crime", "rating": "Very low"}]}`, "1"},
	} {
		s, err := LoadWith("cities.json", []byte(strings.Replace(builtin, c.from, c.to, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := field(t, s, "risk_level", c.record); got != c.want {
			t.Errorf("with %s, %s has the level %q, want %q", c.to, c.record, got, c.want)
		}
	}
}
