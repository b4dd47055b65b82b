package check

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
)

// parseSelector parses --field-selector. It returns nil if the flag is empty.
func parseSelector(text string) (fields.Selector, error) {
	selector, err := fields.ParseSelector(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--field-selector %q: %w", text, err)
	case text != "" && selector.Empty():
		return nil, fmt.Errorf("--field-selector %q: %w", text, errEmptySelector)
	case text == "":
		return nil, nil
	}
	return selector, nil
}

var errEmptySelector = errors.New("want FIELD=VALUE or FIELD!=VALUE, separated by commas")
