type Provider = { id: string; name: string; endings: readonly string[] }

/**
 * DNS providers by the endings of their name servers. An ending without a dot is the beginning of a label, for
 * providers with numbered zones.
 */
const PROVIDERS: readonly Provider[] = [
  { id: 'cloudflare', name: 'Cloudflare', endings: ['ns.cloudflare.com', 'cloudflare.net'] },
  { id: 'route53', name: 'Amazon Route 53', endings: ['awsdns'] },
  { id: 'google', name: 'Google Cloud DNS', endings: ['googledomains.com'] },
  { id: 'azure', name: 'Azure DNS', endings: ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info'] },
  { id: 'godaddy', name: 'GoDaddy', endings: ['domaincontrol.com'] },
  { id: 'namecheap', name: 'Namecheap', endings: ['registrar-servers.com', 'namecheaphosting.com'] },
  { id: 'ionos', name: 'IONOS', endings: ['ui-dns.com', 'ui-dns.de', 'ui-dns.org', 'ui-dns.biz'] },
  { id: 'hetzner', name: 'Hetzner', endings: ['ns.hetzner.com', 'ns.hetzner.de', 'first-ns.de', 'second-ns.de'] },
  { id: 'ovh', name: 'OVHcloud', endings: ['ovh.net', 'ovh.ca', 'anycast.me'] },
  { id: 'digitalocean', name: 'DigitalOcean', endings: ['digitalocean.com'] },
  { id: 'gandi', name: 'Gandi', endings: ['gandi.net'] },
  { id: 'dnsimple', name: 'DNSimple', endings: ['dnsimple.com', 'dnsimple-edge.net', 'dnsimple-edge.org'] },
  { id: 'ns1', name: 'NS1', endings: ['nsone.net'] },
  { id: 'vercel', name: 'Vercel', endings: ['vercel-dns.com'] },
  { id: 'porkbun', name: 'Porkbun', endings: ['porkbun.com'] },
  { id: 'squarespace', name: 'Squarespace', endings: ['squarespacedns.com'] },
  { id: 'wix', name: 'Wix', endings: ['wixdns.net'] },
  { id: 'hostinger', name: 'Hostinger', endings: ['dns-parking.com'] },
  { id: 'strato', name: 'STRATO', endings: ['rzone.de'] },
  { id: 'netcup', name: 'netcup', endings: ['netcup.net'] },
  { id: 'inwx', name: 'INWX', endings: ['inwx.de', 'inwx.eu', 'inwx.com'] },
  { id: 'linode', name: 'Linode', endings: ['linode.com'] },
  { id: 'bunny', name: 'bunny.net', endings: ['bunny.net'] },
  { id: 'hurricane', name: 'Hurricane Electric', endings: ['he.net'] },
]

/** The provider of the given name servers; null when it is not known. */
export function findProvider(nameservers: readonly string[]): { id: string; name: string } | null {
  const found = PROVIDERS.find(({ endings }) =>
    nameservers.some(server => endings.some(ending => matchesEnding(server, ending))),
  )
  return found ? { id: found.id, name: found.name } : null
}

/** An ending without a dot is the beginning of a label: `ns-1.awsdns-09.co.uk`. */
function matchesEnding(server: string, ending: string): boolean {
  if (!ending.includes('.')) return server.split('.').some(label => label.startsWith(`${ending}-`))
  return server === ending || server.endsWith(`.${ending}`)
}
