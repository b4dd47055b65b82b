package ruletest

import "fmt"

// What one suite can ask for. OpenShift's largest has 170 KiB, 124 cases and 12
// changed CRDs.
const (
	maxText  = 8 << 20
	maxCases = 20_000
	// maxChanged is how many changed forms of its CRD a suite may have: each is
	// compiled.
	maxChanged = 100
	maxPatches = 64 << 10 // bytes, as JSON
	// maxMerged is how much of base all patches together may begin with.
	maxMerged = 512 << 20
	// maxShared is how large, together, what aliases repeat in a suite's strings may
	// become.
	maxShared = 64 << 20
)

// weigh is about how many bytes a value has as JSON.
func weigh(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += weigh(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + weigh(item)
		}
	}
	return n
}

func tooMuch(what string, got, most int) string {
	return fmt.Sprintf("%s: %d: want no more than %d in one suite", what, got, most)
}
