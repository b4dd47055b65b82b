package celadontest_test

import (
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/celadon-cel/celadon/celadontest"
)

// t replaces the argument of a test function and prints failures.
var t testing.TB = printer{}

type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printer) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func Example() {
	crds := celadontest.New(t, "../examples/crontab")
	old := `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: 0 3 * * *, image: "app:1"}`
	changed := `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: 0 3 * * *, image: "app:2"}`

	crds.Accepts(t, old)
	crds.Accepts(t, changed)
	crds.Update(old).Rejects(t, changed, celadontest.Cause{Field: "spec.image", Message: "is immutable"})
	// Output:
}

func ExampleCRDs_Err() {
	crds := celadontest.New(t, "../examples/crontab")
	err := crds.Err(t, `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: daily, image: "app:1"}`)
	fmt.Println(apierrors.IsInvalid(err))
	fmt.Println(err)
	// Output:
	// true
	// CronTab.stable.example.com "nightly" is invalid: spec.schedule: Invalid value: "daily": must have five fields
}

func ExampleCRDs_Accepts() {
	crds := celadontest.New(t, "../examples/crontab")
	persisted := crds.Accepts(t, `
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: nightly}
spec: {schedule: 0 3 * * *, image: "app:1"}`)
	fmt.Println(persisted.Object["spec"])
	// Output:
	// map[image:app:1 maxReplicas:10 replicas:1 schedule:0 3 * * *]
}
