import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import type { CaptureRequest } from '../capture-request.ts'
import { type BrowserLocation, SETPRIV } from './find-browser.ts'
import { buildPriorityCommand } from './priority.ts'
import { NO_SANDBOX } from './sandbox.ts'

const MAX_FILE_BYTES = 64 * 1024 * 1024
/** Memory that a browser process reserves and never uses, mostly thread stacks. */
const RESERVED_MB = 1024
const NICENESS = 19

/**
 * Restricts the browser: it connects only to the egress proxy, also for loopback, and does not resolve names. WebRTC, mDNS,
 * QUIC, updates and new windows are disabled.
 */
const FLAGS = [
  '--headless',
  '--remote-debugging-pipe',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-component-extensions-with-background-pages',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-client-side-phishing-detection',
  '--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,CertificateTransparencyComponentUpdater,PaintHolding,WebRtcHideLocalIpsWithMdns',
  '--block-new-web-contents',
  '--deny-permission-prompts',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--no-service-autorun',
  '--metrics-recording-only',
  '--mute-audio',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--password-store=basic',
  '--use-mock-keychain',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
  '--renderer-process-limit=2',
  '--js-flags=--max-old-space-size=256',
]

type LaunchedBrowser = { browser: Browser; hasSandbox: boolean }

export class NoSandboxError extends Error {}

/**
 * Starts the browser with reduced privileges: another user if this process is root, no new privileges, low priority, limits
 * on file size and memory; it is killed when this process ends. Throws a NoSandboxError if the kernel does not allow a
 * sandbox, because a page that exploits its renderer would have the rights of the probe. With `mayLackSandbox` the browser
 * then runs without a sandbox.
 */
export async function launchBrowser(
  order: CaptureRequest,
  proxyUrl: string,
  timeoutMs: number,
): Promise<LaunchedBrowser> {
  const { home } = order
  const executable = await resolveExecutable(order.browser)
  const launch = (flags: string[]) =>
    chromium.launch({
      executablePath: SETPRIV,
      ignoreDefaultArgs: true,
      args: [
        ...limitsFor(order),
        executable,
        ...FLAGS,
        ...flags,
        `--user-data-dir=${join(home, 'profile')}`,
        `--proxy-server=${proxyUrl}`,
        'about:blank',
      ],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      timeout: timeoutMs,
    })
  try {
    return { browser: await launch([]), hasSandbox: true }
  } catch (error) {
    if (!/sandbox/i.test(String(error))) throw error
    if (!order.mayLackSandbox) throw new NoSandboxError(NO_SANDBOX)
    return { browser: await launch(['--no-sandbox']), hasSandbox: false }
  }
}

function limitsFor({ userId, memoryMb }: CaptureRequest): string[] {
  const user = userId === null ? [] : [`--reuid=${userId}`, `--regid=${userId}`, '--clear-groups', '--inh-caps=-all']
  const data = (memoryMb + RESERVED_MB) * 1024 * 1024
  const limits = ['prlimit', `--fsize=${MAX_FILE_BYTES}`, `--data=${data}`, '--core=0', '--']
  return [...user, '--no-new-privs', '--pdeathsig=KILL', '--', ...limits, ...buildPriorityCommand(NICENESS)]
}

async function resolveExecutable(found: BrowserLocation): Promise<string> {
  if ('path' in found) return found.path
  const { default: unpacked } = await import('@sparticuz/chromium')
  const path = await unpacked.executablePath()
  chmodSync(path, 0o755)
  return path
}
