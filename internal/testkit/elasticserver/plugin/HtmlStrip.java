package riskdex.analysis;

import java.io.Reader;
import java.util.Set;
import org.apache.lucene.analysis.charfilter.HTMLStripCharFilter;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.analysis.AbstractCharFilterFactory;

/** Takes markup out of the text and decodes entities. */
final class HtmlStrip extends AbstractCharFilterFactory {
    private final Set<String> escapedTags;

    HtmlStrip(String name, Settings settings) {
        super(name);
        escapedTags = Set.copyOf(settings.getAsList("escaped_tags"));
    }

    @Override
    public Reader create(Reader input) {
        return new HTMLStripCharFilter(input, escapedTags);
    }
}
