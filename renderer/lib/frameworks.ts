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

/** A framework as its makers write it; one that we do not know as the platform writes it. */
export function frameworkName(framework: string): string {
  return frameworkNames[framework] ?? framework
}
