// Command sbom lists the components of a program in the format of CycloneDX. It reads
// what the linker has put into the program, so that the list has exactly what is in the
// program, and nothing that only tests need.
//
//	go run ./sbom PROGRAM FILE
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "sbom: say which program, and which file to write: sbom PROGRAM FILE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(2)
	}
}

func write(program, to string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("read what %s was built from: %w", program, err)
	}
	bom, err := describe(info)
	if err != nil {
		return fmt.Errorf("describe %s: %w", program, err)
	}
	file, err := os.Create(to) // #nosec G703 -- whoever calls it says where
	if err != nil {
		return fmt.Errorf("write the list of %s: %w", program, err)
	}
	err = cyclonedx.NewBOMEncoder(file, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, specification)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write the list of %s: %w", program, err)
	}
	return nil
}
