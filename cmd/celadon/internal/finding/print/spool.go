package print

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// maxSpool is the number of bytes that a spool keeps in memory.
const maxSpool = 1 << 20

// spool holds output until everything before it is known. Large output is kept in a temporary file.
type spool struct {
	mem  bytes.Buffer
	file *os.File
}

func (s *spool) Write(data []byte) (int, error) {
	if s.file == nil && s.mem.Len()+len(data) > maxSpool {
		f, err := os.CreateTemp("", "celadon-report-")
		if err != nil {
			return 0, fmt.Errorf("no temporary storage for a large report: %w", err)
		}
		s.file = f
		_ = os.Remove(f.Name()) // deleted even if the process is killed; has no effect on Windows
	}
	n, _ := s.mem.Write(data)
	if s.file != nil && s.mem.Len() > readAhead {
		if _, err := s.mem.WriteTo(s.file); err != nil {
			return n, err
		}
		s.mem.Reset()
	}
	return n, nil
}

const readAhead = 64 << 10

func (s *spool) copyTo(w io.Writer) error {
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return err
		}
	}
	_, err := s.mem.WriteTo(w)
	return err
}

// reset empties the spool for reuse.
func (s *spool) reset() {
	s.mem.Reset()
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
		s.file = nil
	}
}
