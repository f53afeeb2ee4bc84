/** An app without dependencies that answers with its variables. */
export const printsVariables = {
  'package.json': JSON.stringify({ name: 'prints', private: true, scripts: { start: 'node server.js' } }),
  'server.js': `require('node:http').createServer((_, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT, process.env.HOST)`,
}
