package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"riskdex/elastic"
	"riskdex/internal/address"
	"riskdex/internal/reread"
)

// elasticsearchSettings are shared by the commands that talk to Elasticsearch.
type elasticsearchSettings struct {
	ElasticsearchURL string `name:"elasticsearch-url" env:"ELASTICSEARCH_URL" default:"http://127.0.0.1:9200" placeholder:"URL" help:"The URL of Elasticsearch."`
	SignIn           signIn `embed:"" prefix:"elasticsearch-" envprefix:"ELASTICSEARCH_"`
	indexSettings
}

// client returns a client with these settings.
func (s elasticsearchSettings) client() (*elastic.Client, error) {
	if u, err := address.Parse(s.ElasticsearchURL, ""); err == nil && s.ElasticsearchURL != os.Getenv("ELASTICSEARCH_URL") {
		if _, has := u.User.Password(); has {
			return nil, errors.New("--elasticsearch-url has a password in it, which everybody on this machine can read: " +
				"use --elasticsearch-user with --elasticsearch-password-file, or the environment variable ELASTICSEARCH_URL")
		}
	}
	return s.SignIn.client(s.ElasticsearchURL)
}

// indexSettings say what the indices in a cluster are called and how records become documents.
type indexSettings struct {
	IndexPrefix string `name:"index-prefix" env:"RISKDEX_INDEX_PREFIX" placeholder:"PREFIX" help:"Prefix of every alias, index and template."`
	Mappings    string `name:"mappings" env:"RISKDEX_MAPPINGS" type:"existingdir" placeholder:"DIR" help:"A folder of mapping files in place of the built-in ones."`
	Gazetteer   string `name:"gazetteer" env:"RISKDEX_GAZETTEER" placeholder:"DIR" help:"A folder with cities.tsv and countries.tsv in place of the built-in gazetteer; off for none."`
}

// signIn says how riskdex signs in to a cluster and what it trusts. No flag holds a secret
// itself, because everybody on a machine can read the flags of its processes.
type signIn struct {
	APIKeyFile      string `name:"api-key-file" env:"API_KEY_FILE" placeholder:"FILE" help:"A file with an encoded API key; or the key itself in ELASTICSEARCH_API_KEY."`
	User            string `name:"user" env:"USER" placeholder:"NAME" help:"A user of Elasticsearch."`
	PasswordFile    string `name:"password-file" env:"PASSWORD_FILE" placeholder:"FILE" help:"A file with the user's password; or the password itself in ELASTICSEARCH_PASSWORD."`
	CAFile          string `name:"ca-file" env:"CA_FILE" placeholder:"FILE" help:"Authorities (PEM) to trust in place of the system's."`
	Fingerprint     string `name:"ca-fingerprint" env:"CA_FINGERPRINT" placeholder:"SHA256" help:"Fingerprint of the certificate to trust, as Elasticsearch prints it."`
	CertificateFile string `name:"cert-file" env:"CERT_FILE" placeholder:"FILE" help:"A client certificate (PEM) for Elasticsearch."`
	KeyFile         string `name:"key-file" env:"KEY_FILE" placeholder:"FILE" help:"The key of that certificate (PEM)."`
}

// client returns a client of the cluster at a URL.
func (s signIn) client(url string) (*elastic.Client, error) {
	c := elastic.Connection{URL: url, User: s.User, Fingerprint: s.Fingerprint}
	var errs [5]error
	c.APIKey, errs[0] = secret("--elasticsearch-api-key-file", s.APIKeyFile, "ELASTICSEARCH_API_KEY")
	c.Password, errs[1] = secret("--elasticsearch-password-file", s.PasswordFile, "ELASTICSEARCH_PASSWORD")
	c.CA, errs[2] = content("--elasticsearch-ca-file", s.CAFile)
	c.ClientCertificate, errs[3] = content("--elasticsearch-cert-file", s.CertificateFile)
	c.ClientKey, errs[4] = content("--elasticsearch-key-file", s.KeyFile)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if file := cmp.Or(s.APIKeyFile, s.PasswordFile); file != "" {
		// What cannot be read replaces nothing: the next answer of Elasticsearch says whether the last one is still right.
		kept, err := reread.Open(nil, file, []string{file}, func(contents [][]byte) (string, error) { return onlyLine(file, contents[0]) }, time.Now, func(error) {})
		if err != nil {
			return nil, err
		}
		c.Secret = func() string {
			last, _ := kept.Get()
			return last
		}
	}
	return elastic.NewClient(c)
}

// content returns the content of the file that a flag names, or nil if it names none. An
// empty file is an error.
func content(flag, file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s: %s is empty", flag, file)
	}
	return text, nil
}

// secret returns the only line of the file that a flag names, or the value of an environment
// variable if the flag names none.
func secret(flag, file, variable string) (string, error) {
	text, err := content(flag, file)
	if err != nil || text == nil {
		return os.Getenv(variable), err
	}
	line, err := onlyLine(file, text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return line, nil
}

// onlyLine returns the line of a file that has one.
func onlyLine(file string, text []byte) (string, error) {
	line := strings.TrimRight(string(text), "\r\n")
	if line == "" || strings.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s is empty, or has more than one line", file)
	}
	return line, nil
}
