/** What a client of NATS is told of whom to try next, and when. */
export type ReconnectPace = {
  reconnectDelayHandler: () => number
  reconnectToServer: <Server>(pool: readonly Server[]) => { server: Server; delay: number }
}

/**
 * Left alone the client tells by the wall clock how long ago it tried, and one that was set back by an hour would keep
 * it away for an hour. So each try is due at once, and a timer delays it; the first connection is not delayed. Of
 * several servers each has its turn.
 *
 * @param pauseMs asked before each further try
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
