package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// specification is the version of CycloneDX: https://cyclonedx.org/specification/overview/
const specification = cyclonedx.SpecVersion1_6

// describe lists the modules and the standard library of a program. The list has no time
// and no serial number: the same program gives the same list.
func describe(info *debug.BuildInfo) (*cyclonedx.BOM, error) {
	program := component(cyclonedx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
	program.Properties = properties(info.Settings)
	libraries := []cyclonedx.Component{standardLibrary(info.GoVersion)}
	needs := []string{libraries[0].BOMRef}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		c := component(cyclonedx.ComponentTypeLibrary, module.Path, module.Version)
		if err := addSum(&c, module.Sum); err != nil {
			return nil, fmt.Errorf("module %s: %w", module.Path, err)
		}
		libraries, needs = append(libraries, c), append(needs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &program}
	bom.Components = &libraries
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return bom, nil
}

// component identifies a module by its package URL,
// https://github.com/package-url/purl-spec, in which a version's + is escaped. It leaves
// out a version that is not one.
func component(kind cyclonedx.ComponentType, name, version string) cyclonedx.Component {
	address := "pkg:golang/" + name
	if version != "(devel)" {
		address += "@" + url.QueryEscape(version)
	}
	return cyclonedx.Component{
		Type: kind, BOMRef: address, PackageURL: address, Name: name, Version: version, Scope: cyclonedx.ScopeRequired,
	}
}

// standardLibrary has the name that the Go vulnerability database uses.
func standardLibrary(goVersion string) cyclonedx.Component {
	version := "v" + strings.TrimPrefix(goVersion, "go")
	return component(cyclonedx.ComponentTypeLibrary, "std", version)
}

// addSum adds the checksum of go.sum. It is that of the module's files, as
// https://go.dev/ref/mod#go-sum-files describes, and not of an archive, so it is a
// property and not a hash of the component.
func addSum(c *cyclonedx.Component, sum string) error {
	if sum == "" {
		return nil // a folder in place of a module
	}
	digest, ok := strings.CutPrefix(sum, "h1:")
	if !ok {
		return fmt.Errorf("its checksum %q is of an unknown kind", sum)
	}
	raw, err := base64.StdEncoding.DecodeString(digest)
	if err != nil {
		return fmt.Errorf("its checksum %q cannot be read: %w", sum, err)
	}
	c.Properties = &[]cyclonedx.Property{
		{Name: "riskdex:go.sum", Value: sum},
		{Name: "riskdex:go.sum.sha256", Value: hex.EncodeToString(raw)},
	}
	return nil
}

// properties returns the build settings that determine the program.
func properties(settings []debug.BuildSetting) *[]cyclonedx.Property {
	var list []cyclonedx.Property
	for _, s := range settings {
		list = append(list, cyclonedx.Property{Name: "riskdex:build:" + s.Key, Value: s.Value})
	}
	return &list
}
