import type { HelpArticle } from '../topic.ts'

export const deployingTopics: HelpArticle[] = [
  {
    id: 'git',
    title: 'Git access',
    summary: 'A repository is not found, asks for a password, or cannot be reached.',
    keywords:
      'clone failed permission denied publickey authentication ssh token private repository branch project not connected deploy hook deploy_hook_not_found',
    body: [
      'Homeport runs the `git` of this machine as your user. If `git ls-remote` can read a repository in your terminal, so can Homeport.',
      { run: 'git ls-remote https://example.com/me/my-app.git' },
      {
        list: [
          'Git is missing: install it and restart Homeport.',
          'Private repository over HTTPS: put an access token in the URL, `https://NAME:TOKEN@example.com/me/my-app.git`. The token is encrypted immediately and never shown again on a page or in a log.',
          'SSH: load the key into your SSH agent, because you cannot type a passphrase during a build. Test the connection with `ssh -T git@example.com` and accept the host key once.',
          'The branch does not exist: check the branch in the project’s Settings.',
          'Repository on this machine: use `file:///home/me/my-app`, or deploy the folder itself.',
        ],
      },
      'A project without a repository deploys folders and archives instead ([[uploads]]). You can add a repository later in the project’s Settings.',
      { h: 'Deploy hooks' },
      'A deploy hook is a URL that deploys the newest commit of a branch when it is called with POST, for example by a CMS or another CI. Create it in the project’s Settings. It answers with the ID of the deployment; calls while one is queued get the ID of that one.',
      { run: 'npx homeport hooks my-app create CMS' },
      {
        run: 'curl -X POST -H "Authorization: Bearer $HOOK_TOKEN" http://127.0.0.1:4600/hooks/deploy',
        note: 'the same as a POST to the URL, with the token in a header that no proxy logs',
      },
    ],
  },
  {
    id: 'uploads',
    title: 'Archives',
    summary: 'What an archive may contain, and why one is rejected.',
    keywords: 'upload zip tar.gz invalid_archive payload_too_large drag drop file size node_modules',
    body: [
      'Upload a .zip or .tar.gz of up to 250 MiB: drop it on the project list or on a project, choose it with a button, or send it from a program:',
      { run: 'curl -H "Authorization: Bearer $TOKEN" -F file=@app.tar.gz http://127.0.0.1:4600/v1/projects/my-app/upload' },
      'The command line packs a folder for you and excludes everything that `.gitignore` and `.dockerignore` match:',
      { run: 'npx homeport deploy .' },
      { h: 'Why an archive is rejected' },
      {
        list: [
          '`invalid_archive` names the entry and the reason. Links must stay inside the archive. Hard links, devices, and names that differ only in upper and lower case are not allowed.',
          '`payload_too_large`: exclude everything that a build recreates. `node_modules` and `.git` are always ignored, but they count towards the upload size.',
          'Browsers upload files, not folders: pack the folder first, or drop it on the desktop app.',
        ],
      },
    ],
  },
  {
    id: 'languages',
    title: 'Languages',
    summary: 'What is built without a Dockerfile, and how to change it.',
    keywords:
      'python django flask fastapi streamlit go rust ruby rails sinatra php laravel symfony java spring kotlin maven gradle dotnet elixir phoenix deno bun dockerfile procfile version',
    body: [
      'Node and static apps are built on both runtimes. Homeport also builds apps in these languages that have no Dockerfile: in an image with Docker, or with the toolchains of this machine without it.',
      {
        list: [
          'Python with uv, poetry, pipenv or pip: Django, FastAPI, Flask, Streamlit. Gunicorn or Uvicorn is added if the app does not list it. Version: `.python-version`, `runtime.txt`, `pyproject.toml`.',
          'Go with modules: the main package in the root, or in `cmd/`. Version: `go.mod`.',
          'Rust with Cargo. Version: `rust-toolchain.toml` or `rust-version`.',
          'Ruby with Bundler: Rails, Sinatra, other Rack apps. Version: `.ruby-version`, `Gemfile`.',
          'PHP behind Apache, or without Docker on its built-in server: Laravel, Symfony, Composer projects, plain files. Version: `.php-version`, `composer.json`.',
          'Java and Kotlin with Maven or Gradle: Spring Boot, Quarkus, a runnable jar. Version: the build file.',
          '.NET, Elixir and Phoenix, Deno, Bun.',
        ],
      },
      'An app must listen on the address in `HOST` and on the port in `PORT`. `HOST` is 0.0.0.0 in Docker and 127.0.0.1 without it. The web process of a `Procfile` replaces the detected start command; the install and build commands of the project settings replace the detected ones.',
      { h: 'Without Docker' },
      'Homeport uses the toolchains that it finds on the PATH and in the folders of pyenv, rustup, rbenv, SDKMAN, asdf and mise. Deno and Bun are installed from their npm packages when the machine does not have them. You install everything else yourself.',
      { run: 'npx homeport doctor', note: 'lists the toolchains of this machine, with their versions, and what is missing' },
      {
        list: [
          'If a source asks for a version that the machine does not have, the deployment fails and names the versions that it has. Install the version, change the file that asks for it, or start Docker.',
          'Python packages are installed into a virtual environment; gems, Composer and Bun packages into the folder of the app. They are reinstalled when a lock file changes. Go, Cargo, Maven, Gradle, NuGet and Hex have a cache for each project.',
          'The app runs as your user. With bubblewrap it sees only its own folder and the toolchains that it uses, and none of your other files.',
          'PHP’s built-in server is meant for development: use Docker for a site with many visitors.',
          'On Windows these languages need Docker.',
        ],
      },
      { h: 'See and change the Dockerfile' },
      { run: 'npx homeport dockerfile . > Dockerfile', note: 'saves the generated Dockerfile, from which the app is built from then on' },
      'Dependencies are a separate layer, which is rebuilt only when a lock file changes.',
    ],
  },
  {
    id: 'previews',
    title: 'Pushes and previews',
    summary: 'A push deploys nothing, a branch has no preview, or its hostname looks odd.',
    keywords: 'branch watch webhook pull merge request commit automatic deploy fork copy data volume database fork_not_found',
    body: [
      'Homeport watches the repository of a project: a local repository through file events, a remote one about once a minute. A push to the production branch deploys it. Every other branch that gets a commit has its own preview until the branch is deleted.',
      { run: 'npx homeport previews watch my-app', note: 'shows whether the repository is watched, and what fails' },
      { run: 'npx homeport previews check my-app', note: 'checks the repository now' },
      {
        list: [
          'A commit that you already deployed manually is not deployed again.',
          'A branch that existed when the repository was linked gets a preview with its next commit.',
          'A stopped project ignores pushes until its next deployment.',
          'A push that changes none of the `watch_paths` of the project is skipped ([[project-settings]]). `npx homeport previews deploy my-app BRANCH` deploys it.',
          'An unreachable repository is checked less and less often, at least every 15 minutes. No commit is lost.',
          'A preview gets the preview variables. It gets a copy of the database, and of the volumes, only if you turn that on under Previews.',
          'A hostname such as `a-b-1f0c3a--shop` has a hash because another branch already uses `a-b--shop`, or because the name was too long for DNS.',
        ],
      },
      { h: 'A copy of production’s data' },
      'A branch gets its own copy of production’s current volumes, including those of Redis and MariaDB, and of its PostgreSQL database. Production pauses while its data is copied, and its requests wait.',
      { run: 'npx homeport fork my-app search' },
      { run: 'npx homeport fork my-app search --from other', note: 'copies the data of another branch’s preview' },
      { run: 'npx homeport fork my-app search --remove', note: 'an open preview continues without the data' },
      {
        list: [
          'Run it again for newer data. It replaces the data of the branch, after taking snapshots of its volumes and a dump of its database.',
          'Without a preview, the data is kept until there is one. A development server of the branch uses the database when it starts ([[dev]]).',
          'If the copy fails or Homeport is closed during it, the branch keeps its previous data.',
          'The copy is deleted with the preview.',
          'Btrfs and XFS on Linux copy without using space: the files share their blocks until one of them changes. Elsewhere a copy takes as much space as production’s data.',
          'With `preview_volumes: snapshot`, every new preview starts with production’s volumes. It keeps volumes that it already got from a copy.',
        ],
      },
      { h: 'Pull requests' },
      'Pull requests of GitHub, Gitea and Forgejo, merge requests of GitLab and pull requests of Bitbucket Server get previews too, including those from forks. Homeport reads the refs that these forges publish, such as `refs/pull/12/head`, so it needs no token and no webhook.',
      { run: 'npx homeport previews pull-requests my-app on', note: 'pull request 12 is then at http://pr-12--my-app.localhost:4680' },
      'This is off by default, because it runs the code of anyone who can open a pull request. Without Docker, that code runs as a process on this machine: turn it on only if you trust everyone who can open one. Accounts other than the instance owner’s need Docker for it. A file in the repository cannot turn it on.',
      {
        list: [
          'A pull request gets its preview with the first push that Homeport sees after the setting was turned on.',
          'The preview is closed when the ref disappears, when its commit is in the production branch, or when GitHub no longer publishes a merge for it, as for closed pull requests and those with conflicts. Other forges keep the refs of closed pull requests: a squashed one stays open there until newer ones replace it.',
          'A project has up to 10 of these previews. The next one replaces the preview that has gone longest without a change.',
          'Previews of pull requests get the variables of the preview environment that are not sensitive. They get no variables that are set for all environments, no database, no private images, no snapshots of volumes, no submodules, and no build cache of the project.',
          '`homeport projects set my-app pull_request_secrets=true` gives them what other previews get. Anyone who can open a pull request can then read it.',
          'A branch named `pull/12` gets no preview, because that is the name of a pull request.',
        ],
      },
    ],
  },
  {
    id: 'builds',
    title: 'Builds that fail',
    summary: 'What went wrong while dependencies were installed, or while the app was built or started.',
    keywords:
      'cache no-cache clear stale outdated build_failed install_failed start_failed detect_failed timeout npm ci lockfile ERESOLVE typescript module not found exit code error log',
    body: [
      'The deployment page shows the reason at the top, with the log line and a hint. The previous version stays live. Fix the problem and deploy again, or press Redeploy to build the same source with the current variables and settings.',
      { run: 'npx homeport logs my-app --build dpl_… --all > build.log', note: 'the whole build log; without --build, the log of the app' },
      { h: 'The app is not recognized' },
      'Homeport looks for a `package.json`, a `Dockerfile` or an `index.html`. If the app is in a subfolder of the repository, set Root directory in the project’s settings. For a repository with several apps, create one project for each; the message lists the apps.',
      { h: 'Installing dependencies' },
      {
        list: [
          'The lock file does not match `package.json`: run the install command of your package manager and commit the lock file.',
          'ERESOLVE: two packages need different versions of a third. If the app works anyway, commit an `.npmrc` with the line `legacy-peer-deps=true`.',
          'A package must be compiled and the tools are missing: use a version with prebuilt binaries, or a `Dockerfile` that installs `python3 make g++`.',
          'A package needs another version of Node: set Node version in the settings, or `engines` in `package.json`.',
          'Private package: add its token as a variable and reference the variable in `.npmrc`.',
          'The registry cannot be reached: [[offline]].',
        ],
      },
      { h: 'Building' },
      {
        list: [
          'A variable is missing: add it under Environment, for production, or for preview if a branch fails ([[environment]]).',
          'A file or package is not found, but works on your machine: file names are case-sensitive here, and packages that are only installed globally on your machine are missing.',
          'TypeScript or a linter reports errors: run the same command on your machine to see the same errors.',
          'The build was killed or ran out of memory: [[memory]].',
          'The build timed out: the limit is the setting `build_timeout_s`. A build in watch mode never ends; use a command that builds once.',
        ],
      },
      { h: 'Outdated results' },
      'Builds keep dependencies and framework caches of earlier builds. If a build uses something outdated, choose Deploy without cache in the menu of the project, or clear the cache in its Settings. Cache mounts of a `Dockerfile` belong to the Docker engine; `docker builder prune` removes them.',
      { run: 'npx homeport deploy --no-cache', note: 'only this deployment rebuilds everything' },
      { run: 'npx homeport build-cache clear my-app', note: 'removes everything that earlier builds left' },
      { h: 'Static sites' },
      {
        list: [
          'The output folder needs an `index.html` or a rule for `/`. Otherwise the build fails and lists the files that it found.',
          'Put rules in the files `_redirects` and `_headers` in that folder, in the format of Netlify and Cloudflare Pages. The two files themselves are never served. An existing file takes precedence over a rule, unless the status of the rule ends in `!`. The build log names unsupported rules, such as conditions and proxying to other servers.',
        ],
      },
      { h: 'Starting' },
      {
        list: [
          'The start command is not found: add its package to `dependencies`, or change the start command.',
          'A port is in use, or the app does not respond: [[health-check]].',
          'The app exits immediately: its output is at the end of the build log. A missing variable or database is the most common cause.',
        ],
      },
    ],
  },
  {
    id: 'offline',
    title: 'Registries, proxies and no network',
    summary: 'Packages or images cannot be downloaded: no network, a corporate proxy, or a private registry.',
    keywords: 'offline proxy npmrc certificate SELF_SIGNED_CERT_IN_CHAIN ENOTFOUND ECONNREFUSED ETIMEDOUT docker hub pull rate limit google fonts',
    body: [
      'Homeport itself works without a network. A build needs one to download packages that are not cached yet, and Docker needs one to pull each base image once.',
      {
        list: [
          'Corporate certificates: start Homeport with `NODE_EXTRA_CA_CERTS` set to the certificate file. Builds trust it too, including builds in containers.',
          'Private registry or proxy: put the npm, pnpm or yarn settings into a file and set `HOMEPORT_NPMRC` to its path.',
          '`E401` or `E403`: the registry requires a token. Add the token as a variable and write `//registry.example.com/:_authToken=${NPM_TOKEN}` in the app’s `.npmrc`.',
          'Docker Hub limits pulls: sign in with `docker login` and pull the image once with `docker pull`. Homeport uses local images.',
          'Next.js downloads Google Fonts during the build: store the fonts in the repository and use `next/font/local`.',
          'To try Homeport without a network, deploy one of the [[samples]]. They need no packages.',
        ],
      },
      { run: 'HOMEPORT_NPMRC=/home/me/company.npmrc NODE_EXTRA_CA_CERTS=/home/me/company.crt npx homeport serve' },
    ],
  },
  {
    id: 'memory',
    title: 'Out of memory',
    summary: 'A build or an app was killed because it exceeded its memory limit.',
    keywords: 'out_of_memory OOMKilled killed exit code 137 heap limit SIGKILL javascript heap',
    body: [
      'The memory limit of an app is Memory in the project’s settings, up to the maximum of the plan. Builds have their own limit, which applies to the whole instance.',
      { run: 'npx homeport settings set build_memory_mb 4096' },
      {
        list: [
          'Build: turn off source maps, run fewer workers, or raise the limit above. For `JavaScript heap out of memory`, also set the variable `NODE_OPTIONS` to `--max-old-space-size=3072`.',
          'App: check under Metrics how its memory grows. If it grows without end, the app has a memory leak, and more memory only delays the crash.',
          'Docker Desktop, Colima and similar tools run in a virtual machine with its own memory limit. Raise it there.',
        ],
      },
    ],
  },
  {
    id: 'health-check',
    title: 'The health check fails',
    summary: 'The app started, but listens on another port or the wrong address, or responds too late.',
    keywords: 'port_not_detected health_check_failed EADDRINUSE PORT listens on another port localhost 127.0.0.1 0.0.0.0 bad gateway answer',
    body: [
      'Before an app gets traffic, it must accept a connection on the port in the variable `PORT` and respond to a request for `/`, or for the path that you set under Health check in the project’s Settings. Every response except a server error passes. If the `Dockerfile` has a `HEALTHCHECK`, that check decides instead. The error shows what was requested, the response, and how long it took.',
      {
        list: [
          'In a container the app must listen on all addresses: `0.0.0.0`, not `127.0.0.1` or `localhost`. Many frameworks accept `--host 0.0.0.0`.',
          'The app waits for something while it starts, such as a database: the log shows what. Listen first, then connect.',
          'The app responds with a 500: check its log. A missing variable is the most common cause.',
          'The app needs longer than the timeout, which is 60 seconds: raise it in the settings, or for one service with `healthcheck: { path: /healthz, timeout: 3m }` in `homeport.yaml`.',
        ],
      },
      { run: 'npx homeport projects set my-app health_path=/healthz health_timeout_s=180' },
      'If an app ignores `PORT`, Homeport checks the ports that it opened: first the one that its `Dockerfile` names in `EXPOSE`, then the first one that speaks HTTP. Requests go to that port, and the build log shows a warning. It is still better to use `PORT`, for example `server.listen(process.env.PORT ?? 3000)`: the app starts faster, and when apps run as processes, two apps or two versions of one app cannot share a fixed port.',
    ],
  },
]
