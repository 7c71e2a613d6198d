/** Styles of the local mail page, light and dark. */
export const STYLE = `
:root{color-scheme:light dark;--back:#f6f7f9;--card:#fff;--text:#101828;--soft:#667085;--line:#e4e7ec;--link:#175cd3}
@media (prefers-color-scheme:dark){
:root{--back:#0c111d;--card:#161b26;--text:#f5f5f6;--soft:#94969c;--line:#1f242f;--link:#84adff}
}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
header{padding:14px 24px;border-bottom:1px solid var(--line);background:var(--card);font-weight:600}
header span{margin-left:8px;color:var(--soft);font-weight:400}
main{max-width:880px;margin:0 auto;padding:24px 16px 48px}
h1{margin:8px 0 16px;font-size:22px;line-height:1.3;overflow-wrap:anywhere}
h1 small{color:var(--soft);font-weight:400}
h2{margin:28px 0 8px;font-size:15px}
a{color:var(--link)}
ul{margin:0;padding:0;list-style:none;background:var(--card);border:1px solid var(--line);border-radius:10px;overflow:hidden}
li+li{border-top:1px solid var(--line)}
li a{display:grid;grid-template-columns:1fr auto;gap:0 16px;padding:12px 16px;color:inherit;text-decoration:none}
li a:hover,li a:focus-visible{background:var(--back)}
.subject{font-weight:600;overflow-wrap:anywhere}
.to{grid-column:1;color:var(--soft);overflow-wrap:anywhere}
time{grid-column:2;grid-row:1;color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px;margin:0 0 16px}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
iframe{display:block;width:100%;height:640px;border:1px solid var(--line);border-radius:10px;background:var(--card)}
pre{margin:0;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}
.none{padding:48px 24px;text-align:center;color:var(--soft)}
@media (max-width:480px){header span{display:block;margin:0}time{grid-column:1;grid-row:auto;font-size:13px}}
`
