import type { HelpArticle } from '../topic.ts'

export const developmentTopics: HelpArticle[] = [
  {
    id: 'dev',
    title: 'Development with hot reload',
    summary: 'Work on an app with its development server at the same address, with HTTPS, variables, services and database.',
    keywords:
      'homeport dev expose alias port development server hot reload hmr vite next nuxt astro sveltekit django flask rails go worktree branch localhost websocket dev_session_exists dev_session_not_found dev_server_not_local',
    body: [
      'In the folder of a project, this starts its development server and sends the requests of your machine to it. The production build keeps running, and the address switches back when you press Ctrl-C, close the terminal, or select Switch back on the project’s page.',
      { run: 'npx homeport dev' },
      { run: 'npx homeport dev my-app -- npm run dev:web', note: 'another project, another command' },
      { run: 'npx homeport dev --stop', note: 'switches back from another terminal' },
      {
        list: [
          'Address: the same as that of the production build, with HTTP and HTTPS. WebSockets for hot reload work over both. Custom domains and the local network keep the production build.',
          'Variables: those of the project. Databases and services have addresses that a program of this machine can reach. Write-only variables are not set, because their values never leave Homeport: put them in a file that the framework reads, such as `.env.local`.',
          'Command: `dev` in `homeport.yaml`, else the script `dev` in `package.json`, else the development server of Django, Flask, FastAPI, Rails, Phoenix, Laravel, Go, .NET or Deno.',
          'Port: a free one, which the command gets in `PORT`. To choose another, add `--port`.',
        ],
      },
      { file: 'homeport.yaml', text: 'dev: npm run dev -- --open=false' },
      { h: 'A program that you started yourself' },
      { run: 'npx homeport expose my-app 3000', note: 'my-app.localhost points to port 3000 of this machine until Ctrl-C' },
      'It answers over HTTP and HTTPS, with WebSockets. If the program accepts only `localhost` as a host, add `--host-header localhost`.',
      { h: 'Several branches at the same time' },
      'A linked git worktree has its own address, `BRANCH--SLUG.localhost`, which is also that of the branch’s preview. It gets the variables for previews.',
      { run: 'git worktree add ../my-app-search -b search && cd ../my-app-search && npx homeport dev' },
      'It uses production’s database and services, or its own copy, so that your experiments do not reach production’s data ([[previews]]).',
      { run: 'npx homeport fork my-app search', note: 'before homeport dev' },
      'The copy has PostgreSQL, Redis, MariaDB, S3 storage and prebuilt images with volumes. While a development server of the branch runs, they run next to production’s, with other addresses and passwords. The same applies to the main folder when this branch is checked out there.',
      { h: 'When something is wrong' },
      {
        list: [
          '`dev_session_exists`: a development server of this folder is already running, or uses the data that is to be copied or removed. Stop it with `homeport dev --stop`.',
          '`dev_server_not_local`: the instance is on another machine, which cannot reach a port of yours.',
          'The page says that the server does not respond: it has stopped, or listens on a port other than `PORT`. Add `--port` with the port that it prints.',
          'The server rejects the hostname: Homeport addresses it as `localhost`. If it rejects that too, add `localhost` to its allowed hosts.',
        ],
      },
    ],
  },
]
