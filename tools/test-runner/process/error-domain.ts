import { createHook, executionAsyncResource } from 'node:async_hooks'

type ErrorHandler = (error: unknown, event: string) => void
/** `parent`: the one that was current where it was created */
type ErrorDomain = { onerror: ErrorHandler; parent: ErrorDomain | null; destroyed: boolean; destroy(): void }

type Resource = { [DOMAIN]?: ErrorDomain }

/** The property of a resource of an asynchronous context with its domain. */
const DOMAIN = Symbol('domain of uncaught errors')
const current = () => executionAsyncResource() as Resource
/** Not AsyncLocalStorage: since Node 24, a store that is set inside an AsyncResource is lost when it returns. */
const hook = createHook({
  init(_id, _type, _trigger, resource: Resource) {
    const domain = current()[DOMAIN]
    if (domain !== undefined) resource[DOMAIN] = domain
  },
})
const originalEmit = process.emit
let active = 0

/**
 * What tap uses to find the test of an uncaught error: `onerror` gets the errors and unhandled rejections of what the current
 * asynchronous context starts, until `destroy`. Then the parent gets them. It replaces the package async-hook-domain, which
 * watches the end of every promise: a tenth of the processor time of test/attacks/bodies.test.ts.
 */
export function Domain(this: ErrorDomain, onerror: ErrorHandler): void {
  this.onerror = onerror
  this.parent = findDomain()
  this.destroyed = false
  this.destroy = () => {
    if (this.destroyed) return
    this.destroyed = true
    active--
    if (active === 0) stopListening()
  }
  current()[DOMAIN] = this
  if (active === 0) startListening()
  active++
}

/** The innermost domain of the current context that is not destroyed. */
function findDomain(): ErrorDomain | null {
  let domain = current()[DOMAIN] ?? null
  while (domain?.destroyed) domain = domain.parent
  return domain
}

function startListening(): void {
  hook.enable()
  process.on('uncaughtExceptionMonitor', handleException)
  process.emit = emitUnlessHandled as typeof process.emit
}

function stopListening(): void {
  hook.disable()
  process.off('uncaughtExceptionMonitor', handleException)
  process.emit = originalEmit
}

/** Handles unhandled rejections without a listener: with one, Node would regard each of them as handled. */
function emitUnlessHandled(this: NodeJS.Process, event: string, ...values: unknown[]): boolean {
  if (event !== 'unhandledRejection' || process.listenerCount(event) > 0)
    return Reflect.apply(originalEmit, this, [event, ...values])
  return handleError(values[0], event)
}

function handleException(error: unknown, event: string): void {
  // the next uncaught exception is this one
  if (handleError(error, event))
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
}

/** False when there is no domain, or when the test file has its own handler. */
function handleError(error: unknown, event: string): boolean {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return false
  const domain = findDomain()
  domain?.onerror(error, event)
  return domain !== null
}
