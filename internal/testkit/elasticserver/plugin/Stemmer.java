package riskdex.analysis;

import java.util.Locale;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.en.EnglishMinimalStemFilter;
import org.apache.lucene.analysis.en.EnglishPossessiveFilter;
import org.apache.lucene.analysis.en.KStemFilter;
import org.apache.lucene.analysis.en.PorterStemFilter;
import org.apache.lucene.analysis.snowball.SnowballFilter;
import org.elasticsearch.common.settings.Settings;
import org.tartarus.snowball.ext.EnglishStemmer;

/** Reduces words to their stems; a language that is not known here is refused when the index is created. */
final class Stemmer extends TokenFilter {
    private final String language;

    Stemmer(String name, Settings settings) {
        super(name);
        language = settings.get("language", settings.get("name", "porter")).toLowerCase(Locale.ROOT);
        switch (language) {
            case "english", "porter", "porter2", "kstem", "light_english", "minimal_english", "possessive_english" -> {}
            default -> {
                if (LanguageFilters.stemmer(language) == null) {
                    throw new IllegalArgumentException("stemmer [" + name + "]: this local server does not know [" + language + "]");
                }
            }
        }
    }

    @Override
    public TokenStream create(TokenStream input) {
        return switch (language) {
            case "porter2" -> new SnowballFilter(input, new EnglishStemmer());
            case "kstem", "light_english" -> new KStemFilter(input);
            case "minimal_english" -> new EnglishMinimalStemFilter(input);
            case "possessive_english" -> new EnglishPossessiveFilter(input);
            case "english", "porter" -> new PorterStemFilter(input);
            default -> LanguageFilters.stemmer(language).apply(input);
        };
    }
}
