/** How a Node tool gets its port, and which host header it accepts. */
export interface DevTool {
  framework: string
  label: string
  /** Finds the tool in a script. */
  pattern: RegExp
  /** Added to the script; `{port}` is the port. */
  arguments: string[]
  environment?: Record<string, string>
  /** `localhost` unless the tool needs the host that the browser sends. */
  host_header?: 'public'
}

const viteArguments = ['--port', '{port}', '--strictPort', '--host', '127.0.0.1']
const portOption = ['--port', '{port}']

/** The pitfalls of each tool are in the comment above it. The first match wins, and several tools run Vite, so Vite comes late. */
export const devTools: DevTool[] = [
  // Next.js: `allowedDevOrigins` refuses foreign origins; *.localhost is known, and Server Actions compare Origin with X-Forwarded-Host.
  {
    framework: 'nextjs',
    label: 'Next.js',
    pattern: /\bnext(?:\s+dev|\s*$|\s+-)/,
    arguments: [...portOption, '--hostname', '127.0.0.1'],
    host_header: 'public',
  },
  // Nuxt: its own option for the host; the HMR socket of Vite is on the same port.
  { framework: 'nuxt', label: 'Nuxt', pattern: /\bnux(?:t|i)\s+dev\b|\bnuxt\s*$/, arguments: [...portOption, '--host', '127.0.0.1'] },
  // Astro: `server.allowedHosts` like Vite, `security.checkOrigin` compares Origin with Host; its command has no --strictPort.
  { framework: 'astro', label: 'Astro', pattern: /\bastro(?:\s+dev\b|\s*$)/, arguments: [...portOption, '--host', '127.0.0.1'] },
  // React Router and Remix: Vite with their own options; actions compare Origin with X-Forwarded-Host, then Host.
  { framework: 'react-router', label: 'React Router', pattern: /\breact-router\s+dev\b/, arguments: viteArguments, host_header: 'public' },
  { framework: 'remix', label: 'Remix', pattern: /\bremix\s+vite:dev\b/, arguments: viteArguments, host_header: 'public' },
  { framework: 'remix', label: 'Remix', pattern: /\bremix\s+dev\b/, arguments: [] },
  // Angular: Vite beneath; knows localhost alone in `allowedHosts`, and opens its live-reload socket at the page's own address.
  { framework: 'angular', label: 'Angular', pattern: /\bng\s+(?:serve|s|dev)\b/, arguments: [...portOption, '--host', '127.0.0.1'] },
  // Create React App: its client opens the socket at the server's own port unless WDS_SOCKET_PORT is 0, and it opens a browser.
  {
    framework: 'create-react-app',
    label: 'Create React App',
    pattern: /\breact-(?:app-rewired|scripts)\s+start\b|\bcraco\s+start\b/,
    arguments: [],
    environment: { WDS_SOCKET_PORT: '0', BROWSER: 'none' },
  },
  // webpack-dev-server: refuses unknown hosts; without --client-web-socket-url its client opens the socket at the server's own port.
  {
    framework: 'vue-cli',
    label: 'Vue CLI',
    pattern: /\bvue-cli-service\s+serve\b/,
    arguments: [...portOption, '--host', '127.0.0.1'],
  },
  {
    framework: 'webpack',
    label: 'webpack',
    pattern: /\bwebpack(?:-dev-server|(?:-cli)?\s+s(?:erve)?)\b/,
    arguments: [...portOption, '--host', '127.0.0.1', '--client-web-socket-url', 'auto://0.0.0.0:0/ws'],
  },
  { framework: 'rsbuild', label: 'Rsbuild', pattern: /\brsbuild(?:\s+dev\b|\s*$)/, arguments: [...portOption, '--host', '127.0.0.1'] },
  // Gatsby: its own socket, at the page's address.
  { framework: 'gatsby', label: 'Gatsby', pattern: /\bgatsby\s+develop\b/, arguments: [...portOption, '--host', '127.0.0.1'] },
  { framework: 'solidstart', label: 'SolidStart', pattern: /\bvinxi\s+dev\b/, arguments: [...portOption, '--host', '127.0.0.1'] },
  { framework: 'docusaurus', label: 'Docusaurus', pattern: /\bdocusaurus\s+start\b/, arguments: [...portOption, '--host', '127.0.0.1', '--no-open'] },
  { framework: 'storybook', label: 'Storybook', pattern: /\bstorybook\s+dev\b/, arguments: [...portOption, '--host', '127.0.0.1', '--no-open'] },
  { framework: 'vitepress', label: 'VitePress', pattern: /\bvitepress(?:\s+dev\b|\s*$)/, arguments: [...portOption, '--host', '127.0.0.1'] },
  { framework: 'eleventy', label: 'Eleventy', pattern: /\b(?:eleventy|@11ty\/eleventy)\b.*--serve/, arguments: ['--port={port}'] },
  // Parcel: its HMR socket is at the page's address unless --hmr-port is set.
  { framework: 'parcel', label: 'Parcel', pattern: /\bparcel(?:\s+serve\b|\s+\S+\.html|\s*$)/, arguments: [...portOption, '--host', '127.0.0.1'] },
  { framework: 'wrangler', label: 'Wrangler', pattern: /\bwrangler\s+(?:pages\s+)?dev\b/, arguments: [...portOption, '--ip', '127.0.0.1'] },
  // NestJS and plain servers read PORT.
  { framework: 'nestjs', label: 'NestJS', pattern: /\bnest\s+start\b/, arguments: [] },
  // Vite (SvelteKit, Qwik, Solid too): `server.allowedHosts` refuses unknown hosts; its client opens the HMR socket at the page's address.
  {
    framework: 'vite',
    label: 'Vite',
    pattern: /(?:^|[\s/"'])vite(?:\s+(?:dev|serve)\b|\s+-|\s*$|\s*[;&|"'])/,
    arguments: viteArguments,
  },
  { framework: 'node', label: 'Node', pattern: /\bnode\s+.*--watch|\btsx\s+(?:.*\s)?(?:watch|--watch)\b|\bnodemon\b|\bts-node-dev\b/, arguments: [] },
]

/** The names of scripts that start a development server, the usual one first. */
export const devScripts = ['dev', 'start:dev', 'develop', 'dev:web', 'serve', 'start']
