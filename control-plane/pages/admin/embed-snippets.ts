/** Addresses for use on other sites; null while no status page is published. */
type EmbedLinks = { status_page: string | null; badge: string | null; widget: string | null }

/** The links of the page at an address. */
export const buildEmbedLinks = (page: string | null): EmbedLinks => ({
  status_page: page,
  badge: page && `${page}/badge.svg`,
  widget: page && `${page}/widget.js`,
})

/**
 * Snippets to copy (docs/design/status-pages.md#project). `curl` works unchanged when the key is in the environment.
 */
export function buildSnippets(publicUrl: string, { badge, status_page, widget }: EmbedLinks) {
  return {
    badge_markdown: badge && `[![Status](${badge})](${status_page})`,
    badge_html: badge && `<a href="${status_page}"><img src="${badge}" alt="Status"></a>`,
    widget_html: widget && `<script src="${widget}" async></script>`,
    curl: [
      `curl -X POST ${publicUrl}/api/v1/monitors`,
      `-H "Authorization: Bearer $PICKET_API_KEY"`,
      `-H 'Content-Type: application/json'`,
      `-d '{"name":"Example","type":"http","url":"https://example.com"}'`,
    ].join(' '),
  }
}
