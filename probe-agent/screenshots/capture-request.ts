import type { BrowserLocation } from './chromium/find-browser.ts'

/** What is handed to the program that takes one picture, as JSON on its standard input. */
export type CaptureRequest = {
  url: string
  /** sent to the origin of `url` only, as the check does: they may hold credentials */
  headers: Record<string, string>
  /** `png`: half size and exact, to be compared; `jpeg`: full size, for people */
  format: 'jpeg' | 'png'
  browser: BrowserLocation
  /** run the browser as this user; null: we are no root, it runs as we do */
  userId: number | null
  /** the browser may run without its sandbox where the kernel allows none */
  mayLackSandbox: boolean
  /** a folder of that user's for all that the browser writes */
  home: string
  egressAllow: string[]
  egressDeny: string[]
  memoryMb: number
  /** from its start to the picture */
  withinMs: number
}

/** The first line of its standard output, as JSON; the picture's bytes follow. */
export type CaptureHeader = ({ statusCode: number; contentType: string } | { error: string }) & {
  /** left out: the browser did not get as far as that */
  hasSandbox?: boolean
}

/** One NATS message holds a screenshot; a server takes 1 MiB by default. */
export const MAX_PICTURE_BYTES = 960 * 1024
