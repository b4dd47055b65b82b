package ruletest

import "fmt"

// Limits of a suite. OpenShift's largest has 170 KiB, 124 cases, and 12 changed CRDs.
const (
	maxText  = 8 << 20
	maxCases = 20_000
	// maxChanged limits the number of changed CRDs in a suite, because each is compiled.
	maxChanged = 100
	maxPatches = 64 << 10 // bytes of JSON
	// maxMerged limits the total bytes of base that a suite's patches are merged with.
	maxMerged = 512 << 20
	// maxShared limits the total bytes of objects that contain aliases, because aliases multiply
	// their content.
	maxShared = 64 << 20
	// maxPolicyPaths limits the paths of policies in a suite, and maxParams the params objects in a
	// case.
	maxPolicyPaths = 100
	maxParams      = 1000
)

// estimateJSON estimates the size of a value's JSON in bytes.
func estimateJSON(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += estimateJSON(item)
		}
	case map[string]any:
		for key, item := range v {
			n += len(key) + estimateJSON(item)
		}
	}
	return n
}

func tooMany(subject string, got, limit int) string {
	return fmt.Sprintf("%s: too many in one suite (got %d, want at most %d)", subject, got, limit)
}
