# Caretaker without a Redis: that is a container of its own, see docker-compose.yml.
FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY src src
COPY jobs jobs
COPY scripts scripts
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:22-slim
ENV NODE_ENV=production CARETAKER_DATA_DIR=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY src/cli/bin.cjs src/cli/bin.cjs
COPY src/cli/compiled.cjs src/cli/compiled.cjs
COPY config config
COPY docs/errors.md docs/errors.md
RUN ln -s /app/src/cli/bin.cjs /usr/local/bin/caretaker && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8480
ENTRYPOINT ["caretaker"]
CMD ["daemon"]
