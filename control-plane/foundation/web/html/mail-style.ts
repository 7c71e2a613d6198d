/** Styles that cannot be inline: dark colours, and small screens. Mail programs that drop them show the light mail. */
export const MAIL_STYLE = [
  ':root{color-scheme:light dark;supported-color-schemes:light dark}',
  '@media (max-width:480px){',
  '.around{padding:0!important}',
  '.card{border-radius:0!important}',
  '.inside{padding-left:20px!important;padding-right:20px!important}',
  '.button{display:block!important;margin-right:0!important}',
  '}',
  '@media (prefers-color-scheme:dark){',
  '.page{background:#0c111d!important}',
  '.card{background:#161b26!important}',
  '.strong{color:#f5f5f6!important}',
  '.text{color:#cecfd2!important}',
  '.soft{color:#94969c!important}',
  '.line{border-color:#1f242f!important}',
  '.plain{color:#cecfd2!important;border-color:#333741!important}',
  '}',
].join('\n')
