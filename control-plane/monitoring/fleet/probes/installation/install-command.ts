/** Where the files of `npm run build:probe` are served. */
export const INSTALL_PATH = '/install/probe'

export const INSTALLER = 'install-probe.sh'

/** Characters that no shell changes. Addresses of the settings contain nothing else. */
const PLAIN = /^[\w.,:/@%+=-]*$/

/**
 * One line that installs a probe with a token, as a service of systemd. A failed download ends it, and the token is in the
 * environment, because arguments are in logs and lists of processes. Source: the usage of deploy/probe/install-probe.sh.
 */
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
  const settings = { FLEET_URL: address, ...(isEncrypted ? {} : { FLEET_TLS: 'off' }), PROBE_TOKEN: token }
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${quote(value)}`)
  const sudo = `sudo --preserve-env=${Object.keys(settings).join(',')}`
  // a redirect must not leave https, because what is downloaded runs as root; quoted, because zsh replaces =https
  const protocol = publicUrl.startsWith('https:') ? "--proto '=https' --proto-redir '=https' " : ''
  const download = `curl -fsSL ${protocol}-o ${INSTALLER} ${quote(`${from}/${INSTALLER}`)}`
  return `${download} && ${variables.join(' ')} ${sudo} sh ${INSTALLER} --from ${quote(from)}`
}

const quote = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
