package builtin

import (
	"fmt"
	"regexp"
)

// The API server compares the items of some lists, such as the ports of a container, with each other, which takes it a
// minute for 100,000 items, and computes with all digits of a quantity. Neither ends with the request.
const (
	maxItems  = 20_000
	maxDigits = 10_000
)

// digits matches the beginning of a long quantity.
var digits = regexp.MustCompile(`^[+-]?[0-9.]+$`)

// hugeNumber matches quantities with an exponent of at least five digits.
var hugeNumber = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{5,}$`)

// A LimitError reports an object or a Cluster for which the API server's code could run for minutes.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// checkLimits returns a *LimitError for an object on which the API server's code could run for minutes.
func checkLimits(v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "metadata" || key == "data" || key == "annotations" {
				continue
			}
			if err := checkLimits(value); err != nil {
				return err
			}
		}
	case []any:
		if len(v) > maxItems {
			return &LimitError{fmt.Sprintf("objects with a list of more than %d items are not decided", maxItems)}
		}
		for _, item := range v {
			if err := checkLimits(item); err != nil {
				return err
			}
		}
	case string:
		return checkNumber(v)
	}
	return nil
}

func checkNumber(text string) error {
	if text == "" || (text[0] < '0' || text[0] > '9') && text[0] != '+' && text[0] != '-' && text[0] != '.' {
		return nil
	}
	if len(text) > maxDigits && digits.MatchString(text[:maxDigits]) || hugeNumber.MatchString(text) {
		return &LimitError{"objects with a quantity of more than 10,000 digits are not decided"}
	}
	return nil
}
