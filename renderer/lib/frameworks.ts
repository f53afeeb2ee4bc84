const frameworkNames: Record<string, string> = {
  nextjs: 'Next.js',
  nuxt: 'Nuxt',
  sveltekit: 'SvelteKit',
  astro: 'Astro',
  remix: 'Remix',
  'react-router': 'React Router',
  nestjs: 'NestJS',
  express: 'Express',
  fastify: 'Fastify',
  koa: 'Koa',
  hono: 'Hono',
  node: 'Node.js',
  vite: 'Vite',
  'tanstack-start': 'TanStack Start',
  solidstart: 'SolidStart',
  qwik: 'Qwik',
  nitro: 'Nitro',
  angular: 'Angular',
  'create-react-app': 'Create React App',
  docusaurus: 'Docusaurus',
  vitepress: 'VitePress',
  eleventy: 'Eleventy',
  html: 'Static HTML',
  dockerfile: 'Dockerfile',
}

/** Display name of a framework; an unknown one is shown as the platform reports it. */
export function frameworkName(framework: string): string {
  return frameworkNames[framework] ?? framework
}
