/** Options of a NATS client that choose the next server and the delay. */
type ReconnectPace = {
  reconnectDelayHandler: () => number
  reconnectToServer: <Server>(pool: readonly Server[]) => { server: Server; delay: number }
}

/**
 * By default the client uses the wall clock to compute when the next try is due, so a clock that is set back by an hour
 * disconnects it for an hour. With these options each try is due immediately and delayed by a timer; the first one is not
 * delayed. Several servers are tried in turn: the client puts the next one first.
 *
 * @param pauseMs the delay before each further try
 */
export function createReconnectPace(pauseMs: () => number): ReconnectPace {
  let isFirst = true
  return {
    reconnectDelayHandler: () => Number.NEGATIVE_INFINITY,
    reconnectToServer(pool) {
      const delay = isFirst ? 0 : pauseMs()
      isFirst = false
      return { server: pool[0]!, delay }
    },
  }
}
