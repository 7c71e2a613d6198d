/** Where the files of `npm run build:probe` are served. */
export const INSTALL_PATH = '/install/probe'

/** Characters that no shell changes. Addresses of the settings contain nothing else. */
const PLAIN = /^[\w.,:/@%+=-]*$/

/** One line that installs a probe with a token, as a service of systemd. Source: the usage of deploy/probe/install-probe.sh. */
export function buildInstallCommand({
  publicUrl,
  fleet,
  token,
}: {
  publicUrl: string
  fleet: URL
  token: string
}): string {
  const from = `${publicUrl}${INSTALL_PATH}`
  const isEncrypted = fleet.protocol === 'https:'
  const address = `${fleet.hostname}:${fleet.port || (isEncrypted ? '443' : '80')}`
  const settings = [`FLEET_URL=${address}`, ...(isEncrypted ? [] : ['FLEET_TLS=off']), `PROBE_TOKEN=${token}`]
  const words = ['sudo', 'env', ...settings, 'sh', '-s', '--', '--from', from].map(quote)
  return `curl -fsSL ${quote(`${from}/install-probe.sh`)} | ${words.join(' ')}`
}

const quote = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
