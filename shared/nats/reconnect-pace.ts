/** Options of a NATS client that choose the next server and the delay. */
type ReconnectPace = {
  reconnectDelayHandler: () => number
  reconnectToServer: <Server>(pool: readonly Server[]) => { server: Server; delay: number }
}

/**
 * By default the client uses the wall clock to compute when the next try is due, so a clock that is set back by an hour
 * disconnects it for an hour. With these options each try is due immediately and delayed by a timer; the first one is not
 * delayed. Several servers are tried in turn.
 *
 * @param pauseMs the delay before each further try
 */
export function createReconnectPace(pauseMs: () => number): ReconnectPace {
  let tries = 0
  return {
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer(pool) {
      const server = pool[tries % pool.length]!
      const delay = tries === 0 ? 0 : pauseMs()
      tries++
      return { server, delay }
    },
  }
}
