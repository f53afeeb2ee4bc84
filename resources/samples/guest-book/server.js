import { createServer } from 'node:http'

const greeting = process.env.GREETING ?? 'Good day'
const color = /^#[0-9a-f]{6}$/i.test(process.env.COLOR ?? '') ? process.env.COLOR : '#0b5563'
/** Names only, because values may be secret. */
const names = Object.keys(process.env)
  .filter((name) => /^(GREETING|COLOR|PORT|NODE_ENV|HOMEPORT_\w+|DATABASE_URL)$/.test(name))
  .sort()

const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

const server = createServer((request, response) => {
  const guest = (new URL(request.url, 'http://app').searchParams.get('name') ?? '').trim().slice(0, 40)
  if (guest !== '') console.log(`greeted ${guest}`)
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  response.end(page(guest))
})

function page(guest) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Guest book</title>
<link rel="icon" href="data:,">
<style>
body { display: grid; place-items: center; min-height: 100dvh; margin: 0; background: ${color}; font: 17px/1.55 system-ui, sans-serif; color: #1d2b33 }
main { box-sizing: border-box; display: grid; gap: 18px; width: min(640px, 100% - 32px); padding: clamp(24px, 6vw, 52px); border-radius: 20px; background: #fffdf7; box-shadow: 0 24px 60px #0005 }
h1 { margin: 0; font: 600 clamp(34px, 8vw, 62px)/1.05 Georgia, serif; letter-spacing: -0.02em } p, ul { margin: 0 }
form { display: flex; flex-wrap: wrap; gap: 10px } input { flex: 1 1 180px } input, button { padding: 11px 14px; border: 1px solid #6b7d86; border-radius: 10px; font: inherit }
button { border: 0; background: #1d2b33; color: #fff; cursor: pointer } code { font: 0.9em ui-monospace, monospace } ul { padding-left: 1.2em; color: #4a5b64 }
</style>
<main>
<h1>${escape(greeting)}${guest === '' ? '' : `, ${escape(guest)}`}</h1>
<form><input name="name" aria-label="Your name" placeholder="Your name" value="${escape(guest)}"><button>Sign</button></form>
<p>The greeting comes from the variable <code>GREETING</code>, the color around this card from <code>COLOR</code> (such as <code>#7a1f3d</code>).
Set them in Homeport under Environment. The next deployment uses them.</p>
<ul aria-label="Variables of this app">${names.map((name) => `<li><code>${name}</code></li>`).join('')}</ul>
<p>Names are not stored.</p>
</main>
</html>`
}

server.listen(process.env.PORT ?? 3000, process.env.HOST, () => console.log(`Listening on port ${server.address().port}, greeting: “${greeting}”`))
process.on('SIGTERM', () => process.exit(0))
