package receiver

import (
	"context"
	"net"
)

type connKey struct{}

// ConnContext is the ConnContext of an http.Server. It lets the receiver ask the operating system
// whether a sender has hung up, since net/http cancels the context of a request only after the
// body was read, and later.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// hungUp returns a function that reports whether the sender of the request with that context
// has hung up.
func hungUp(ctx context.Context) func() bool {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	return func() bool { return ctx.Err() != nil || isClosed(conn) }
}
