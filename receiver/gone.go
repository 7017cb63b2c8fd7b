package receiver

import (
	"context"
	"net"
)

type connKey struct{}

// ConnContext is for http.Server: with it, the receiver asks the system whether a sender
// is still there. net/http, which ends the context of a request whose sender is not, learns of it a
// while later, and not at all while a body is not read to its end.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// hungUp returns a function that tells whether the sender of the request with that
// context has hung up.
func hungUp(ctx context.Context) func() bool {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	return func() bool { return ctx.Err() != nil || isClosed(conn) }
}
