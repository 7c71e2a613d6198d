/** The style of form pages (a single card): light and dark, from the width of a phone. */
export const FORM_PAGE_STYLE = `
:root{color-scheme:light dark;--page:#f4f6fa;--card:#fff;--ink:#0f172a;--soft:#526077;--line:#d5dbe6;--field:#fff;
  --accent:#1d4ed8;--accent-strong:#1e40af;--on-accent:#fff;--bad:#b42318;--bad-field:#fef3f2;--good:#05603a;--good-field:#ecfdf3;--warn:#93370d;--warn-field:#fffaeb;
  --shadow:0 1px 2px #1018280d,0 12px 32px -8px #1018281f}@media(prefers-color-scheme:dark){
  :root{--page:#0b1018;--card:#141b27;--ink:#eef2f8;--soft:#9aa7bb;--line:#2b3648;--field:#0f1622;
  --accent:#5b8def;--accent-strong:#83a9f5;--on-accent:#071227;--bad:#fda29b;--bad-field:#2a1613;--good:#75e0a7;--good-field:#0d2418;--warn:#fec84b;--warn-field:#291f0e;
  --shadow:0 1px 2px #0006,0 16px 40px -12px #000a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:24px;padding:32px 16px;
  background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header{display:flex;align-items:center;gap:10px;font-weight:650;font-size:20px;letter-spacing:-.02em}
header svg{width:28px;height:28px;color:var(--accent)}
main{width:100%;max-width:420px;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:32px;box-shadow:var(--shadow)}@media(max-width:480px){
  body{justify-content:flex-start;padding:28px 12px}main{padding:24px 20px}}
h1{margin:0 0 6px;font-size:22px;line-height:1.3;letter-spacing:-.015em;text-wrap:balance;overflow-wrap:anywhere}
h2{margin:28px 0 4px;font-size:16px}
p{margin:0 0 16px;color:var(--soft);overflow-wrap:anywhere}
p:last-child{margin-bottom:0}
form{margin:20px 0 0}
label{display:block;margin:0 0 16px;font-size:14px;font-weight:550}
label small{display:block;font-weight:400;font-size:13px;color:var(--soft)}
input,select{display:block;width:100%;margin:6px 0 0;padding:10px 12px;border:1px solid var(--line);border-radius:8px;background:var(--field);color:inherit;font:inherit;font-weight:400}
input[aria-invalid=true]{border-color:var(--bad)}
:is(input,select,button,a):focus-visible{outline:2px solid var(--accent);outline-offset:2px}
button{display:block;width:100%;padding:11px 16px;border:0;border-radius:8px;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;cursor:pointer}
a.button{display:block;padding:11px 16px;border-radius:8px;background:var(--accent);color:var(--on-accent);font-size:16px;font-weight:600;text-decoration:none}
button:hover,a.button:hover{background:var(--accent-strong)}
button.plain{background:none;border:1px solid var(--line);color:var(--ink)}
button.plain:hover{background:var(--page)}
a{color:var(--accent);text-underline-offset:3px}
.wrong,.notice,.caution{margin:16px 0 0;padding:10px 14px;border-radius:8px;font-size:14px}
.wrong{background:var(--bad-field);color:var(--bad)}
.notice{background:var(--good-field);color:var(--good)}
.caution{background:var(--warn-field);color:var(--warn)}
.error{display:block;margin:6px 0 0;font-weight:400;font-size:13px;color:var(--bad)}
.more{margin:20px 0 0;font-size:14px;text-align:center;text-wrap:balance}
dl{display:grid;grid-template-columns:auto 1fr;gap:6px 16px;margin:16px 0 0;font-size:14px}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
ul{list-style:none;margin:16px 0 20px;padding:0;border:1px solid var(--line);border-radius:10px}
li{padding:12px 14px;font-size:14px;color:var(--soft)}
li+li{border-top:1px solid var(--line)}
li strong{display:block;font-size:15px;font-weight:600;line-height:1.4;color:var(--ink);overflow-wrap:anywhere}
li::before{content:"";float:right;width:9px;height:9px;margin:7px 0 0 12px;border-radius:50%;background:var(--good)}
li.over::before{background:var(--bad)}
.acted li{display:flex;align-items:center;justify-content:space-between;gap:12px}
.acted li::before{content:none}
.acted p{margin:0}
.acted form{margin:0;flex:none}
.acted small{display:block;font-size:13px;text-wrap:pretty}
.tag{display:inline-block;margin-left:8px;padding:0 8px;border-radius:99px;background:var(--good-field);color:var(--good);font-size:12px;line-height:20px;font-weight:550;white-space:nowrap}
ul.decided li::before{content:none}
.decided small{display:block;font-size:13px;overflow-wrap:anywhere}
.choices{display:flex;flex-wrap:wrap;gap:8px;margin:10px 0 0}
button.small{width:auto;padding:6px 10px;border:1px solid var(--line);background:none;color:var(--ink);font-size:13px;font-weight:550;white-space:nowrap}
button.small:hover{background:var(--page)}
button.bad{color:var(--bad)}
.caution a{color:inherit}
code{overflow-wrap:anywhere}
`
