# Writes the .sql templates of a folder as string constants: FOLDER/postgres/work.sql becomes templates::postgres_work.
#
#   cmake -DFOLDER=src/adopt -DOUT=build/generated/adopt -P embed_templates.cmake

file(GLOB templates RELATIVE ${FOLDER} ${FOLDER}/postgres/*.sql ${FOLDER}/sqlite/*.sql)
list(SORT templates)
set(header "#pragma once\n\n#include <string_view>\n\nnamespace leasehold::adopt::templates {\n")
set(source "#include \"adopt/templates.h\"\n\nnamespace leasehold::adopt::templates {\n")
foreach(template ${templates})
  file(READ ${FOLDER}/${template} text)
  string(REGEX REPLACE "\\.sql$" "" name ${template})
  string(REPLACE "/" "_" name ${name})
  string(APPEND header "extern const std::string_view ${name};\n")
  string(APPEND source "const std::string_view ${name} = R\"~sql~(${text})~sql~\";\n")
endforeach()
string(APPEND header "}  // namespace leasehold::adopt::templates\n")
string(APPEND source "}  // namespace leasehold::adopt::templates\n")
file(WRITE ${OUT}/templates.h "${header}")
file(WRITE ${OUT}/templates.cc "${source}")
