const leakScript = `
  const all = [process.env.SECRET, process.env.DATABASE_URL, process.env.DATABASE_URL && decodeURIComponent(new URL(process.env.DATABASE_URL).password)].filter(Boolean)
  for (const one of all) {
    console.log('plain', one); console.error('percent', encodeURIComponent(one)); console.log('base64', Buffer.from(one).toString('base64'))
    for (const before of ['a', 'ab']) console.log('shifted', Buffer.from(before + one).toString('base64'))
    console.log(JSON.stringify({ one })); console.error(new Error('failed with ' + one).stack); console.log('coloured \\u001b[31m' + one + '\\u001b[0m')
    process.stdout.write('half ' + one.slice(0, 9)); process.stdout.write(one.slice(9) + '\\n')
  }
  if (!all.length) console.log('nothing to tell')`

/** Sends a span that contains the secrets of the app wherever it has a text. */
const sendSpan = `
  const all = [process.env.SECRET, process.env.DATABASE_URL].filter(Boolean)
  const text = all.flatMap((one) => [one, encodeURIComponent(one), Buffer.from(one).toString('base64'), JSON.stringify({ one })]).join(' ')
  const [, name, token] = /^([^=]+)=(.*)$/.exec(process.env.OTEL_EXPORTER_OTLP_HEADERS)
  const attributes = [{ key: 'told ' + text, value: { stringValue: text } }, { key: 'db.query.text', value: { stringValue: 'SELECT ' + text } }]
  const time = String(Date.now()) + '000000'
  const span = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), name: 'told ' + text, kind: 2, startTimeUnixNano: time, endTimeUnixNano: time, attributes,
    events: [{ name: text, timeUnixNano: time, attributes }], status: { code: 2, message: text } }
  fetch(process.env.OTEL_EXPORTER_OTLP_ENDPOINT + '/v1/traces', { method: 'POST', headers: { 'content-type': 'application/json', [name]: token },
    body: JSON.stringify({ resourceSpans: [{ resource: { attributes: [{ key: 'service.name', value: { stringValue: text } }] }, scopeSpans: [{ scope: { name: text }, spans: [span] }] }] }) })
    .then((answer) => console.log('sent with', name, token, answer.status))`

/** An app that prints its secrets in every encoding, during its build and while it runs. */
export const tellingApp = {
  'package.json': JSON.stringify({ name: 'teller', private: true, scripts: { build: 'node build.js', start: 'node server.js' } }),
  'shout.js': leakScript,
  'span.js': sendSpan,
  'build.js': `require('./shout.js'); if (require('node:fs').existsSync('fail-build')) process.exit(3)`,
  'server.js': `require('./shout.js'); if (require('node:fs').existsSync('fail-start')) process.exit(4)
    require('node:http').createServer((q, r) => {
      if (q.url === '/shout') { console.log('asked', process.env.SECRET); require('./span.js'); r.statusCode = 500 }
      r.setHeader('content-type', 'text/html'); r.end('<h1>' + process.env.SECRET.length + '</h1>')
    }).listen(process.env.PORT)`,
}
