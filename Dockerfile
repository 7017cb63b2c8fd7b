# riskdex as one static program and nothing else: no shell, no package manager.

FROM golang:1.26.8@sha256:9d2f36f06329b2a141b9db99ffa32765cf695ee57b813ca29e245e8670bcbfff AS build
WORKDIR /src
COPY . .
# Version, commit and time, for riskdex version; make image sets it.
ARG STAMP=
# What was fetched and built stays with the engine, not in the image.
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-X 'main.stamp=${STAMP}'" -o /out/riskdex ./cmd/riskdex
# The folder of the journal. A new volume takes its owner over.
RUN mkdir /out/data

FROM scratch
# For an Elasticsearch with TLS.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/riskdex /riskdex
COPY --from=build --chown=10001:10001 /out/data /data
USER 10001:10001
WORKDIR /data
VOLUME /data
# Inside a container the loopback address would be reached by nobody. Which ports
# the world sees is decided by who publishes them.
ENV RISKDEX_LISTEN=0.0.0.0:8080
ENV RISKDEX_ADMIN_LISTEN=0.0.0.0:8081
ENV RISKDEX_JOURNAL=/data/riskdex.db
EXPOSE 8080 8081 8082
STOPSIGNAL SIGTERM
ENTRYPOINT ["/riskdex"]
CMD ["serve"]
