import type { App } from './types.ts'

/** Declares routes in a scope: the hooks, parsers and error handler that `declare` adds are for these routes only. */
export function addScope(app: App, declare: (scope: App) => void, options: { prefix?: string } = {}): void {
  app.register(async scope => declare(scope as App), options)
}
