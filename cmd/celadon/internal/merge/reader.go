package merge

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

const (
	// maxLine is the maximum length of a line in bytes. A line has an object with all its causes
	// and its persisted form.
	maxLine = 32 << 20
	// readAhead is the size of the buffer of an open report. All shards of a source are open at the same time.
	readAhead = 16 << 10
)

type part struct {
	file      string
	head      *finding.PartHead
	documents int64
	input     string
	// crds is a digest of the report's CRD lines, whole of all its lines.
	crds, whole string
}

func (p *part) name() string { return partName(p.head.Source, p.head.Shard) }

func partName(source string, s finding.Shard) string {
	switch {
	case source == "":
		return "shard " + s.String()
	case s.Of == 1:
		return source
	}
	return source + ": shard " + s.String()
}

type reader struct {
	file *os.File
	buf  *bufio.Reader
	line int
	last bool
	// objects is set after the first object. at is the position of the latest object, and counts
	// holds the counts of the lines read so far.
	objects bool
	at      int64
	counts  finding.Summary
	ahead   *finding.PartLine // the next object or the last line, once forward has read it
}

func open(name string) (*reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, cmp.Or(err, fmt.Errorf("%s: not a regular file: reports are read twice", name))
	}
	return &reader{file: f, buf: bufio.NewReaderSize(f, readAhead), at: -1}, nil
}

func (r *reader) close() { _ = r.file.Close() }

var errCut = errors.New("truncated: its last line, with the summary, is missing")

// next returns the next line unchanged, and io.EOF after the last line.
func (r *reader) next() ([]byte, error) {
	var text []byte
	for {
		part, err := r.buf.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			return nil, fmt.Errorf("line %d: more than %d MiB", r.line+1, maxLine>>20)
		}
		text = append(text, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(text) == 0 && r.last:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, errCut
		case err != nil:
			return nil, err
		case r.last:
			return nil, fmt.Errorf("line %d: unexpected data after the summary", r.line+1)
		}
		r.line++
		return text, nil
	}
}

func (r *reader) decode(text []byte) (*finding.PartLine, error) {
	l := &finding.PartLine{}
	if err := strictly(text, l); err != nil {
		return nil, fmt.Errorf("line %d: %w", r.line, err)
	}
	if err := r.check(l); err != nil {
		return nil, fmt.Errorf("line %d: %w", r.line, err)
	}
	return l, nil
}

func strictly(text []byte, into any) error {
	if input.UnmarshalStrict(text, into) != nil {
		return errors.New("not a line of a report of celadon check -o jsonl with --shard or --source")
	}
	return nil
}

var errLine = errors.New("want a CRD or an object with its part, or the final summary")

func (r *reader) check(l *finding.PartLine) error {
	crd, object := l.CRD != nil, l.Object != nil
	switch {
	case l.Report != nil:
		return errors.New("a second report: want one report per file")
	case l.Summary != nil && l.End != nil && !crd && !object && l.Part == nil:
		r.last = true
		return r.ends(l)
	case l.Summary != nil || l.End != nil || l.Part == nil || crd == object:
		return errLine
	case crd && r.objects:
		return errors.New("a CRD after an object")
	}
	if err := l.Join(); err != nil {
		return err
	}
	if crd {
		r.counts.CountCRD(l.CRD)
		return nil
	}
	if l.Object.At <= r.at {
		return fmt.Errorf("part.at: %d after %d: want the order of the input", l.Object.At, r.at)
	}
	r.objects, r.at = true, l.Object.At
	r.counts.Count(l.Object)
	return nil
}

func (r *reader) ends(l *finding.PartLine) error {
	if got, want := r.counts.Lines(), l.Summary.Lines(); got != want {
		return fmt.Errorf("%s of CRDs and objects (want %d, the count in the summary)", phrase.Count(got, "line"), want)
	}
	if l.Summary.Interrupted || l.Summary.Omitted > 0 || len(l.Summary.Missing) > 0 {
		return errors.New("the report does not cover all objects")
	}
	return nil
}

func (r *reader) begin() (*finding.PartHead, []byte, error) {
	text, err := r.next()
	if err != nil {
		return nil, nil, err
	}
	l := &finding.PartLine{}
	if err := strictly(text, l); err != nil {
		return nil, nil, fmt.Errorf("line 1: %w", err)
	}
	if l.Report == nil || l.CRD != nil || l.Object != nil || l.Part != nil || l.Summary != nil || l.End != nil {
		return nil, nil, errors.New("line 1: not a part of a run: want the output of celadon check -o jsonl with --shard or --source")
	}
	if err := l.Report.Check(); err != nil {
		return nil, nil, fmt.Errorf("line 1: report: %w", err)
	}
	return l.Report, text, nil
}

// inspect also returns the head with an error, if the head could be read.
func inspect(name string) (*part, error) {
	p := &part{file: name}
	r, err := open(name)
	if err != nil {
		return p, err
	}
	defer r.close()
	head, text, err := r.begin()
	if err != nil {
		return p, err
	}
	p.head = head
	crds, whole := sha256.New(), sha256.New()
	whole.Write(text)
	for {
		text, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return p, err
		}
		l, err := r.decode(text)
		if err != nil {
			return p, err
		}
		if whole.Write(text); l.CRD != nil {
			crds.Write(text)
		}
		if l.End != nil {
			p.documents, p.input = l.End.Documents, l.End.Input
		}
	}
	p.crds, p.whole = hex.EncodeToString(crds.Sum(nil)), hex.EncodeToString(whole.Sum(nil))
	return p, nil
}
