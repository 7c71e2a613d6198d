import type { BrowserLocation } from './chromium/find-browser.ts'

/** The input of the program that takes one picture, as JSON on its standard input. */
export type CaptureRequest = {
  url: string
  /** sent only to the origin of `url`, because they may contain credentials */
  headers: Record<string, string>
  /** `png`: half size and lossless, for comparison; `jpeg`: full size, for people */
  format: 'jpeg' | 'png'
  browser: BrowserLocation
  /** the user that runs the browser; null: the current user, which is not root */
  userId: number | null
  /** run the browser without its sandbox if the kernel does not allow one */
  mayLackSandbox: boolean
  /** a folder of that user for everything that the browser writes */
  home: string
  egressAllow: string[]
  egressDeny: string[]
  memoryMb: number
  /** from its start to the picture */
  withinMs: number
}

/** The first line of its standard output, as JSON; the bytes of the picture follow. */
export type CaptureHeader = ({ statusCode: number; contentType: string } | { error: string }) & {
  /** undefined: the browser did not start far enough for that */
  hasSandbox?: boolean
}

/** A screenshot is one NATS message; a server accepts 1 MiB by default. */
export const MAX_PICTURE_BYTES = 960 * 1024
