import { MAIL_STYLE, MailBody, type MailParts } from './mail-layout.tsx'
import { renderHtml } from './render.ts'

/** Renders a mail as HTML for mail programs: tables, inline styles, with a dark mode. */
export function renderMail(parts: MailParts): string {
  const html = renderHtml(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{parts.title}</title>
        <style>{MAIL_STYLE}</style>
      </head>
      <body class="page" style="margin:0;padding:0;background:#f2f4f7">
        <div style="display:none;max-height:0;overflow:hidden">{parts.preview}</div>
        <MailBody {...parts} />
      </body>
    </html>,
  )
  return `<!doctype html>\n${html}\n`
}
