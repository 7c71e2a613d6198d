import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from './teardown.ts'

export type KeyPair = { key: string; cert: string }

type Authority = {
  ca: string
  /** creates a certificate for this name, valid from and to these days from now */
  issue(name: string, fromDays: number, toDays: number): KeyPair
  selfSigned(name: string): KeyPair
  /** creates a certificate with this number of intermediate authorities, valid for `days`; `cert` contains the chain, the certificate first */
  issueLong(name: string, between: number, days?: number): KeyPair
  /** adds a certificate of this authority, issued by an older root that is not trusted, valid from and to these days from now */
  crossSign(pair: KeyPair, fromDays: number, toDays: number): KeyPair
}

/** Creates a certificate authority for a test with openssl. */
export function createAuthority(t: Teardown): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(file(name), 'utf8')
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Test authority', '-days', '9')
  writeFileSync(file('index'), '')
  writeFileSync(
    file('ca.conf'),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=index\nnew_certs_dir=.\ncertificate=ca.crt\nprivate_key=ca.key\nrand_serial=yes
default_md=sha256\npolicy=any\ncopy_extensions=copy\nunique_subject=no\n[any]\ncommonName=supplied\n`,
  )
  return {
    ca: read('ca.crt'),
    issue(name, fromDays, toDays) {
      const subject = [
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=${/^[\d.]+$/.test(name) ? 'IP' : 'DNS'}:${name}`,
      ]
      openssl('req', ...newKey, '-keyout', 'leaf.key', '-out', 'leaf.csr', ...subject)
      const span = ['-startdate', stamp(fromDays), '-enddate', stamp(toDays)]
      openssl('ca', '-batch', '-config', 'ca.conf', '-in', 'leaf.csr', '-out', 'leaf.crt', '-notext', ...span)
      return { key: read('leaf.key'), cert: read('leaf.crt') }
    },
    issueLong(name, between, days = 9) {
      writeFileSync(file('between.ext'), 'basicConstraints=CA:true\n')
      writeFileSync(file('leaf.ext'), `subjectAltName=DNS:${name}\n`)
      const sign = (subject: string, from: string, to: string, extensions: string, validDays: number) => {
        openssl('req', ...newKey, '-keyout', `${to}.key`, '-out', `${to}.csr`, '-subj', `/CN=${subject}`)
        const by = ['-CA', `${from}.crt`, '-CAkey', `${from}.key`, '-CAcreateserial', '-days', `${validDays}`]
        openssl('x509', '-req', '-in', `${to}.csr`, '-out', `${to}.crt`, ...by, '-extfile', extensions)
        return read(`${to}.crt`)
      }
      const chain = Array.from({ length: between }, (_, i) =>
        sign(`Between ${i + 1}`, i === 0 ? 'ca' : `between${i}`, `between${i + 1}`, 'between.ext', days),
      )
      const leaf = sign(name, between === 0 ? 'ca' : `between${between}`, 'long', 'leaf.ext', 9)
      return { key: read('long.key'), cert: [leaf, ...chain.reverse()].join('') }
    },
    crossSign({ key, cert }, fromDays, toDays) {
      openssl('req', '-x509', ...newKey, '-keyout', 'old.key', '-out', 'old.crt', '-subj', '/CN=Old root', '-days', '9')
      openssl('req', '-new', '-key', 'ca.key', '-out', 'cross.csr', '-subj', '/CN=Test authority')
      writeFileSync(file('cross.ext'), 'basicConstraints=CA:true\n')
      const by = ['-cert', 'old.crt', '-keyfile', 'old.key', '-extfile', 'cross.ext']
      const span = ['-startdate', stamp(fromDays), '-enddate', stamp(toDays)]
      openssl('ca', '-batch', '-config', 'ca.conf', '-in', 'cross.csr', '-out', 'cross.crt', '-notext', ...by, ...span)
      return { key, cert: cert + read('cross.crt') }
    },
    selfSigned(name) {
      const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', '9']
      openssl('req', '-x509', ...newKey, '-keyout', 'self.key', '-out', 'self.crt', ...subject)
      return { key: read('self.key'), cert: read('self.crt') }
    },
  }
}

/** YYYYMMDDHHMMSSZ, this number of days from now. */
function stamp(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000)
  return `${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`
}
