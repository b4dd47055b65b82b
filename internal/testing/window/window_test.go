package window

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/testing/brokencrd"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

var kubeVersions = []string{"1.28", "1.31", "1.34", "1.36", "1.37", "1.38"}

const (
	changedCRDs    = 500
	generatedCases = 2000
	tokenSequences = 3000
)

// CELADON_ANSWERS names the file for the results. With CELADON_LEVEL=long, they include results for the
// corpora.
func TestAnswers(t *testing.T) {
	name := os.Getenv("CELADON_ANSWERS")
	if name == "" {
		t.Skip("CELADON_ANSWERS names no file: make window compares the answers")
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := &writer{t: t, out: bufio.NewWriter(file), engines: map[engineKey]*engine.Engine{}}
	crds := readCRDs(t)
	for i := range changedCRDs {
		base := crds[i%len(crds)]
		w.crd(brokencrd.Of(base, uint64(i)).CRD, kubeVersions[i%len(kubeVersions)])
	}
	for i := range generatedCases {
		w.generated(crds[i%len(crds)], i)
	}
	w.syntaxErrors(crds[0])
	if level.Long() {
		w.corpus()
	}
	if err := w.out.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d CRDs, %d writes, %d of them accepted", w.crds, w.writes, w.accepted)
}

func readCRDs(t *testing.T) (crds []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, pattern := range []string{"examples/*/crd.yaml", "examples/playground/*/crd.yaml", "x/publish/testdata/everything.yaml"} {
		files, err := filepath.Glob("../../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			crds = append(crds, corpus.ReadCRD(t, file))
		}
	}
	return crds
}

// address matches memory addresses, which a few error messages contain.
var address = regexp.MustCompile(`0x[0-9a-f]+`)

type engineKey struct {
	crd         *apiextensionsv1.CustomResourceDefinition
	kubeVersion string
}

type writer struct {
	t                      *testing.T
	out                    *bufio.Writer
	engines                map[engineKey]*engine.Engine
	crds, writes, accepted int
}

func (w *writer) line(what string, answer any, err error) {
	w.t.Helper()
	text, encodeErr := json.Marshal(answer)
	if encodeErr != nil {
		w.t.Fatalf("%s: %v", what, encodeErr)
	}
	fmt.Fprintf(w.out, "%s: %s %q\n", what, address.ReplaceAll(text, []byte("0x")), fmt.Sprint(err))
}

func (w *writer) crd(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) {
	w.t.Helper()
	w.crds++
	report, err := vet.VetCRD(context.Background(), crd, vet.Config{KubeVersion: kubeVersion, Explain: true})
	w.line(fmt.Sprintf("CRD %d, %s, %s", w.crds, crd.Name, kubeVersion), report, err)
}

func (w *writer) generated(crd *apiextensionsv1.CustomResourceDefinition, i int) {
	w.t.Helper()
	r := random{rand.New(rand.NewPCG(uint64(i), 41))}
	version := crd.Spec.Versions[r.IntN(len(crd.Spec.Versions))]
	req := engine.Request{Object: r.object(crd, version)}
	if r.IntN(3) == 0 {
		req.OldObject = r.object(crd, version)
		if version.Subresources != nil && version.Subresources.Status != nil && r.IntN(2) == 0 {
			req.Subresource = "status"
		}
	}
	w.write(crd, req, kubeVersions[i%len(kubeVersions)])
}

func (w *writer) write(crd *apiextensionsv1.CustomResourceDefinition, req engine.Request, kubeVersion string) {
	w.t.Helper()
	e := w.engine(crd, kubeVersion)
	if e == nil {
		return
	}
	w.writes++
	res, err := e.Validate(context.Background(), req)
	if res != nil && res.Allowed {
		w.accepted++
	}
	w.line(fmt.Sprintf("write %d, %s, %s", w.writes, crd.Name, kubeVersion), res, err)
}

// engine returns nil for a CRD that cannot be used.
func (w *writer) engine(crd *apiextensionsv1.CustomResourceDefinition, kubeVersion string) *engine.Engine {
	w.t.Helper()
	key := engineKey{crd, kubeVersion}
	if e, ok := w.engines[key]; ok {
		return e
	}
	e, err := engine.Compile(crd, engine.Config{KubeVersion: kubeVersion})
	if err != nil {
		w.line("compile "+crd.Name+" for "+kubeVersion, nil, err)
	}
	w.engines[key] = e
	return e
}

var tokens = strings.Fields(`self . a == ( ) [ ] { } , : ? ?. ` + "`b` `b" + ` 'x' "y 1 1.5 1u 0x && || ! - + in has all @ # $ ' ''' r' b' \ // ; for true null .? [? 99999999999999999999 1e999 é _ 'a\q' '\u12'`)

func (w *writer) syntaxErrors(crd *apiextensionsv1.CustomResourceDefinition) {
	w.t.Helper()
	r := rand.New(rand.NewPCG(42, 0))
	for i := range tokenSequences {
		node, err := w.engine(crd, kubeVersions[i%len(kubeVersions)]).At(crd.Spec.Versions[0].Name, "")
		if err != nil {
			w.t.Fatal(err)
		}
		var src []string
		for range 1 + r.IntN(7) {
			src = append(src, tokens[r.IntN(len(tokens))])
		}
		text := strings.Join(src, []string{"", " "}[r.IntN(2)])
		_, err = node.Compile(text)
		w.line(fmt.Sprintf("expression %q", text), nil, err)
	}
}

func (w *writer) corpus() {
	w.t.Helper()
	for _, folder := range corpus.Named(w.t) {
		crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
		n := 0
		for c := range corpus.Cases(w.t, folder) {
			crd := crds[c.CRD]
			if crd == nil {
				crd = corpus.ReadCRD(w.t, filepath.Join(folder, c.CRD))
				crds[c.CRD] = crd
				w.crd(crd, kubeVersions[len(crds)%len(kubeVersions)])
			}
			w.write(crd, engine.Request{Object: c.Object, OldObject: c.OldObject, Subresource: c.Subresource}, kubeVersions[n%len(kubeVersions)])
			n++
		}
	}
}
